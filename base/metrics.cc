// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <cmath>

namespace hourglass {
namespace {
constexpr std::string_view kDropped = "metrics_dropped";
}

void Metrics::set(std::string_view name, double value) {
  const auto found = values_.find(name);
  const bool has_room = found != values_.end() || name == kDropped || values_.size() + (values_.contains(kDropped) ? 0 : 1) < kNamesMax;
  if (!std::isfinite(value) || name.size() > kNameBytesMax || !has_room) {
    values_[std::string(kDropped)] += 1;
  } else if (found != values_.end()) {
    found->second = value;
  } else {
    values_.emplace(std::string(name), value);
  }
}

void Metrics::count(std::string_view name, double amount) { set(name, value(name) + amount); }

void Metrics::gauge(std::string_view name, double value) { set(name, value); }

double Metrics::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0.0 : found->second;
}

}  // namespace hourglass
