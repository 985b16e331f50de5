// SPDX-License-Identifier: Apache-2.0
// What the fuzzers run, and what the corpus replay runs in every test run. Each aborts where a promise is broken.
#pragma once

#include <cstddef>
#include <span>

namespace hourglass::fuzz {

/// The first byte chooses the message (modulo their number), the rest is its body: refused, or it comes back equal.
void decode_message(std::span<const std::byte> input);
/// The first two bytes are the size of the body, the rest a header.
void decode_envelope_header(std::span<const std::byte> input);
/// Refused, or it means the same when it is written out.
void parse_spec_text(std::span<const std::byte> input);
/// The first byte chooses the format (idx where even, else CIFAR's), the next two are the size of idx's label file, the rest is the files.
void read_dataset_files(std::span<const std::byte> input);
/// One byte of codecs (index codec in the 3 low bits), Rice parameter (its highest bit: the values are replaced by such as the codec
/// writes), offset, length, count, levels, size of the indices, indices, values: refused and harmless, or canonical. True: accepted.
bool apply_gradient_block(std::span<const std::byte> input);
/// Codec, rows, columns, the receiver's size, size of the scales, scales, values: refused and harmless, or finite.
void decode_boundary_tensor(std::span<const std::byte> input);

}  // namespace hourglass::fuzz
