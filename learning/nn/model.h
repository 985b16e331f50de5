// SPDX-License-Identifier: Apache-2.0
// Models by name or by spec. A model is one chain of layers; where it is cut is data: the stage "cut".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "learning/nn/network.h"

namespace hourglass::nn {

struct ModelRow {
  std::string_view name;
  std::string_view help;
  std::string_view spec;  ///< e.g. "conv 32 kernel=5 pad=2 | relu | pool 2 | ... | flatten | cut | fc 1024 | relu | fc"; a last "fc"
                          ///< without size: one output a class
};

const std::vector<ModelRow>& models();

/// The stages before and after the cut; both parts of `whole` where the model has no cut or `cut` is false: then `fc` is empty.
struct ModelSpec {
  std::vector<SpecStage> conv;  ///< the whole model where there is no cut
  std::vector<SpecStage> fc;
};

/// `text`: a registry name or a spec. Checks that the layers fit `input` and end in `classes` outputs. Errors: bad_config, with the list of
/// names.
Result<ModelSpec> parse_model(std::string_view text, Shape input, std::uint32_t classes, bool cut);

/// Whether the last of these layers gives what a relu leaves, pooled or not: where an output is 0, its gradient changes nothing.
bool ends_rectified(const std::vector<SpecStage>& stages);

/// The two networks of a model; `fc` is null where there is no cut.
struct Model {
  std::unique_ptr<Network> conv;
  std::unique_ptr<Network> fc;
};
Result<Model> build_model(std::string_view text, Shape input, std::uint32_t classes, bool cut, std::uint32_t threads = 1);

/// Initial parameters of both parts, equal whether cut or not and wherever they are computed: layer by layer from `seed`, forked by layer
/// name.
void initialise(const Model& model, std::uint64_t seed, std::vector<float>& conv, std::vector<float>& fc);
/// Of names, shapes and offsets: two processes with the same hash can exchange parameters.
std::uint64_t layout_hash(const Model& model);

}  // namespace hourglass::nn
