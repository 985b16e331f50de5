// SPDX-License-Identifier: Apache-2.0
// What both directions of the codec agree on beside the verbs.
#pragma once

#include <cstdint>
#include <string_view>

#include "messages/fields.h"

namespace hourglass {

/// Counts the MessagePack elements of a struct: one a field, two for a bin with its checksum.
struct ElementCounter {
  std::uint32_t count = 0;
  template <class... A>
  void number(A&&...) {
    ++count;
  }
  template <class... A>
  void flag(A&&...) {
    ++count;
  }
  template <class... A>
  void choice(A&&...) {
    ++count;
  }
  template <class... A>
  void real(A&&...) {
    ++count;
  }
  template <class... A>
  void text(A&&...) {
    ++count;
  }
  template <class... A>
  void packed(A&&...) {
    count += 2;
  }
  template <class... A>
  void blob(A&&...) {
    count += 2;
  }
  template <class... A>
  void items(A&&...) {
    ++count;
  }
  template <class... A>
  void group(A&&...) {
    ++count;
  }
};

template <Described S>
std::uint32_t elements_of(S& value) {
  ElementCounter counter;
  S::fields(value, counter);
  return counter.count;
}

/// True for well-formed UTF-8 (no overlong forms, no surrogates) without control characters but \n and \t.
bool is_clean_text(std::string_view text);

}  // namespace hourglass
