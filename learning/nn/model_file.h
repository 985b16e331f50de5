// SPDX-License-Identifier: Apache-2.0
// A model's parameters as a safetensors file with the names that PyTorch users expect: "conv1.weight" (OIHW), "fc1.bias".
#pragma once

#include <span>
#include <vector>

#include "learning/nn/model.h"
#include "learning/nn/safetensors.h"

namespace hourglass::nn {

/// The same bytes whether the model is cut or not: layer by layer, weight before bias. `conv` and `fc` are the flat vectors of both parts;
/// `fc` is empty where the model is not cut.
Bytes model_to_safetensors(const Model& model, std::span<const float> conv, std::span<const float> fc, const Metadata& metadata);

/// The reverse; resizes both vectors. The file must hold exactly the model's tensors, by name; or, as torch.nn.Sequential names them
/// ("0.weight", "0.bias", "3.weight", ...), one layer after the other. Errors: those of read_safetensors; bad_data naming the tensor that
/// is missing, unknown or of another shape. On an error both vectors stay as they were.
Status model_from_safetensors(const Model& model, std::span<const std::byte> file, std::vector<float>& conv, std::vector<float>& fc,
                              Metadata* metadata = nullptr);

}  // namespace hourglass::nn
