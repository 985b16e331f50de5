// SPDX-License-Identifier: Apache-2.0
// Values for what the world may do wrong. What we do wrong aborts: see base/check.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace hourglass {

/// Why an operation failed. The numbers travel in messages and mean the same on every node.
enum class Errc : std::uint8_t {
  malformed = 1,    ///< bytes that are not exactly a valid message, block or file
  unsupported = 2,  ///< valid, but of a version or kind that this build does not know
  over_limit = 3,   ///< a named maximum would be exceeded
  unreachable = 4,  ///< no route to the peer
  timed_out = 5,
  too_stale = 6,
  bad_config = 7,
  bad_data = 8,
  io = 9,  ///< disk or operating system
};

std::string_view name_of(Errc code);

struct Error {
  Errc code = Errc::malformed;
  std::string text;  ///< cause and, where there is one, the next step; no trailing full stop
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result(Errc code, std::string text) : Result(Error{code, std::move(text)}) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & {
    HG_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  const T& value() const& {
    HG_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  T value() && {
    HG_CHECK(ok(), error_text());
    return std::get<0>(std::move(state_));
  }  ///< by value: nothing left to dangle
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] const Error& error() const {
    HG_CHECK(!ok(), "no error to read");
    return std::get<1>(state_);
  }

 private:
  [[nodiscard]] std::string error_text() const { return ok() ? std::string() : std::get<1>(state_).text; }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT(google-explicit-constructor)
  Result(Errc code, std::string text) : Result(Error{code, std::move(text)}) {}

  [[nodiscard]] bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  [[nodiscard]] const Error& error() const {
    HG_CHECK(!ok_, "no error to read");
    return error_;
  }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

}  // namespace hourglass
