// SPDX-License-Identifier: Apache-2.0
// One SQL statement with its parameters and its rows.
#pragma once

#include <sqlite3.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace hourglass::sql {

inline Error error_of(sqlite3* database) {
  const int code = sqlite3_errcode(database);
  const bool broken = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
  return {broken ? Errc::bad_data : Errc::io, std::string("history: ") + sqlite3_errmsg(database)};
}

inline Status execute(sqlite3* database, const std::string& text) {
  if (sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error_of(database);
  return {};
}

/// Parameters are bound in order; a real that is not finite is NULL, and NULL is read as NaN.
class Statement {
 public:
  Statement(sqlite3* database, const char* text) : database_(database) {
    if (sqlite3_prepare_v2(database, text, -1, &statement_, nullptr) != SQLITE_OK) statement_ = nullptr;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(std::int64_t number) {
    sqlite3_bind_int64(statement_, ++bound_, number);
    return *this;
  }
  Statement& bind(double number) {
    ++bound_;
    if (std::isfinite(number))
      sqlite3_bind_double(statement_, bound_, number);
    else
      sqlite3_bind_null(statement_, bound_);
    return *this;
  }
  /// True while there is a row.
  bool step() {
    code_ = statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_);
    return code_ == SQLITE_ROW;
  }
  /// To be used again with other parameters.
  Status run() {
    while (step()) {
    }
    const Status out = status();
    sqlite3_reset(statement_);
    bound_ = 0;
    return out;
  }
  [[nodiscard]] Status status() const {
    if (code_ == SQLITE_ROW || code_ == SQLITE_DONE) return {};
    return error_of(database_);
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* begin = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return begin == nullptr ? std::string() : std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] double real(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL ? std::nan("") : sqlite3_column_double(statement_, column);
  }

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int code_ = SQLITE_DONE;
};

}  // namespace hourglass::sql
