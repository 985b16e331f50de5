// SPDX-License-Identifier: Apache-2.0
#include "services/options/setting_kinds.h"

#include <algorithm>

namespace hourglass::kinds {

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string shortest(double number) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

namespace {

/// Shape of UTF-8 only: a lead byte and as many continuation bytes as it asks for.
bool is_utf8(std::string_view text) {
  std::size_t due = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continuation = (byte & 0xC0) == 0x80;
    if (continuation != (due > 0)) return false;
    if (continuation) {
      --due;
    } else if (byte >= 0x80) {
      if (byte < 0xC2 || byte > 0xF4) return false;
      due = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    }
  }
  return due == 0;
}

}  // namespace

bool is_printable(std::string_view text, std::size_t bytes_max) {
  return text.size() <= bytes_max && is_utf8(text) &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.size() > 260) return false;
  std::string_view host = text.substr(0, colon);
  unsigned port = 0;
  if (!parse_number(text.substr(colon + 1), port) || port > 65535) return false;
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return false;
    host = host.substr(1, host.size() - 2);
    return std::all_of(host.begin(), host.end(), [](unsigned char c) { return std::isxdigit(c) || c == ':' || c == '.' || c == '%'; });
  }
  return std::all_of(host.begin(), host.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == '*'; });
}

bool is_token(std::string_view text) {
  constexpr std::size_t kLeast = 8, kMost = 128;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  return text.size() >= kLeast && text.size() <= kMost && text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

}  // namespace hourglass::kinds
