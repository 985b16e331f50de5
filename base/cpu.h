// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hourglass {

/// True where this processor runs x86-64-v3 code (AVX2, FMA, BMI). HOURGLASS_BASELINE=1 in the environment says false, for tests.
bool has_x86_64_v3();

}  // namespace hourglass
