// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/command_box.h"

#include <algorithm>
#include <utility>

namespace hourglass {

std::optional<std::uint64_t> CommandBox::put(Order order) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kWaitingMax) return std::nullopt;
  waiting_.push_back({++given_, order});
  return given_;
}

std::deque<AskedCommand> CommandBox::take_commands() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

std::optional<Order> order_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(kLastOrder); ++i) {
    if (name == name_of(static_cast<Order>(i))) return static_cast<Order>(i);
  }
  return std::nullopt;
}

std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  return authorization.starts_with(kScheme) ? authorization.substr(kScheme.size()) : std::string_view();
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(i < b.size() ? b[i] : 0);
  return difference == 0;
}

bool same_origin(std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;  // no browser, or one that sends none with its own requests
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos || host.empty()) return false;
  return std::ranges::equal(origin.substr(scheme + 3), host, [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return lower(x) == lower(y);
  });
}

}  // namespace hourglass
