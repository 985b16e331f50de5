// SPDX-License-Identifier: Apache-2.0
// Transform `count_sketch`: the sums of signed values in hashed cells, and which units of the range are not zero. Linear: merge() adds two
// sketches cell by cell, so that a tree of aggregators forwards one table however many workers there are. Source: S2 Reducer, arXiv
// 2110.02140; exact peeling as in invertible Bloom lookup tables and the lossless homomorphic compression of arXiv 2402.07529.
//
// A unit is a row of a matrix (the rows of an embedding that a batch touched) or one element of a vector; its members are all its elements.
// form=exact (default): every member becomes an integer, round(x / 2^exponent), and is added to three cells, one in each third of the
// table;
//   sums wrap, so cells of 16 or 32 bits give back the integers of the sum bit for bit as long as those fit. The reader peels. Where that
//   stalls, the block has the integers themselves instead (still mergeable).
// form=float: the paper's form: one row of float cells, x'_i = sign(i) cell(h(i)) for every member. Unbiased; the squared error is about
//   (members / cells) |x|^2: at fewer than some 4 cells a member it is mostly noise. Not for error feedback, where that noise grows.
//
// Options: form=exact or float; cells=0: cells as a share of the range, to 4; 0: float 0.005, exact what the members need (1.3 each and 12,
//   more where the peel stalls); width=32: bits of an exact cell, or 16; exponent: of two, -149 to 96, default the block's largest
//   magnitude just below 2^21 steps (width 16: 2^13), which leaves room for 2^10 (2^2) workers; unit=0: elements, to 2^28; 0: as above. To
//   be merged, blocks need one key (the step), and `cells` and `exponent` given.
// Wire: u8 form (0 float, 1 exact, 2 the integers themselves), u8 bytes a cell, i16 exponent, u32 cells, u64 key, u32 unit, u8 index codec
// of
//   the units (bitmap, rice, none: all), u8 rice bits, u32 units, u32 bytes of their indices; those; the cells (form 2: the members).
// Cost in bits: 1.3 width a member and the units' indices, for any number of merged senders. One sender's sparse block is smaller: the
// table pays where sums are formed on the way (a tree), from about 10 senders a member on. Reading peels twice, once to check. Refused:
// sizes that do not fit; more members than cells (exact); tables that do not peel to zero; values that are not finite.
#pragma once

#include "learning/compress/transform.h"
#include "learning/compress/value_coder.h"

namespace hourglass::compress {

/// Errors: bad_config for options.
Result<std::unique_ptr<Transform>> make_count_sketch(const SpecStage& stage, const Shape& shape);
const ValueDecoder& count_sketch_decoder();

/// `into` becomes the sketch of the sum. Exact forms: the order in which several are merged does not matter, to the bit; a sum whose
/// members do not peel any more is kept as integers; a range of zeros, which is sent as no entries, adds nothing. Errors: malformed or
/// bad_data as check(); bad_config where the two differ in range, form, key, exponent, cells, width or unit; bad_data where a float cell
/// would not be finite. Then `into` is unchanged.
Status merge(GradientBlock& into, const GradientBlock& other);

}  // namespace hourglass::compress
