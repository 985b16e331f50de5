// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

namespace hourglass {

double* Metrics::slot(std::string_view name) {
  const auto found = values_.find(name);
  if (found != values_.end()) return &found->second;
  if (values_.size() >= kNamesMax) {
    values_["metrics_dropped"] += 1;
    return nullptr;
  }
  return &values_.emplace(std::string(name), 0.0).first->second;
}

void Metrics::count(std::string_view name, double amount) {
  if (double* value = slot(name)) *value += amount;
}

void Metrics::gauge(std::string_view name, double value) {
  if (double* at = slot(name)) *at = value;
}

double Metrics::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0.0 : found->second;
}

}  // namespace hourglass
