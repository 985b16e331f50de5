// SPDX-License-Identifier: Apache-2.0
#include "services/chaos/nemesis.h"

#include <algorithm>
#include <charconv>

namespace hourglass::chaos {
namespace {

constexpr double kPauseMax = 3600;

std::optional<double> number(std::string_view text) {
  double out = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (status != std::errc() || end != text.data() + text.size() || !(out > 0 && out <= kPauseMax)) return std::nullopt;
  return out;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    out.push_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

std::optional<Role> role_of(std::string_view word) {
  if (word == "conv") return Role::conv_worker;
  if (word == "fc") return Role::fc_worker;
  if (word == "loader") return Role::data_loader;
  if (word == "tree") return Role::tree_node;
  return role_from_name(word);
}

std::optional<Action> action_of(std::string_view word) {
  for (const Action action : {Action::kill, Action::stop, Action::term}) {
    if (name_of(action) == word) return action;
  }
  return std::nullopt;
}

template <class Item, class Reader>
std::optional<std::vector<Item>> parse_list(std::string_view text, Reader read) {
  std::vector<Item> out;
  for (const std::string_view word : words(text)) {
    const std::optional<Item> item = read(word);
    if (!item) return std::nullopt;
    if (std::find(out.begin(), out.end(), *item) == out.end()) out.push_back(*item);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::string_view name_of(Action action) {
  switch (action) {
    case Action::kill: return "kill";
    case Action::stop: return "stop";
    case Action::term: return "term";
  }
  return "";
}

std::optional<Pauses> parse_pauses(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto least = number(text.substr(0, dash));
  const auto most = dash == std::string_view::npos ? least : number(text.substr(dash + 1));
  if (!least || !most || *least > *most) return std::nullopt;
  return Pauses{*least, *most};
}

std::optional<std::vector<Role>> parse_roles(std::string_view text) { return parse_list<Role>(text, role_of); }
std::optional<std::vector<Action>> parse_actions(std::string_view text) { return parse_list<Action>(text, action_of); }

std::optional<Strike> Nemesis::next() {
  Strike out;
  at_ += plan_.pauses.least + (plan_.pauses.most - plan_.pauses.least) * random_.uniform();
  out.at = at_;
  out.role = random_.next();
  out.action = plan_.actions[random_.below(plan_.actions.size())];
  out.victim = random_.next();
  const double stop = kShortestStop + std::max(0.0, plan_.stop_seconds_max - kShortestStop) * random_.uniform();
  if (out.action == Action::stop) out.stop_seconds = stop;
  if (out.at > plan_.seconds) return std::nullopt;
  return out;
}

}  // namespace hourglass::chaos
