// SPDX-License-Identifier: Apache-2.0
// The page's colours by the formulas of WCAG 2: contrast (L1 + 0.05) / (L2 + 0.05) of relative luminances; 4.5 for text, 3 for lines and
// areas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "actors/monitor_state.h"
#include "services/dashboard/assets.h"

namespace hourglass {
namespace {
using Palette = std::map<std::string, std::string>;

std::string css() {
  for (const Asset& asset : assets()) {
    if (asset.path == "/app.css") return std::string(asset.plain);
  }
  return "";
}

/// Custom properties of all rules whose selector, without white space and quotes, is this one; later ones win.
Palette rule(const std::string& selector) {
  std::string text;
  for (const char c : css()) {
    if (c != '"' && c != ' ' && c != '\n') text += c;
  }
  Palette out;
  for (std::size_t at = 0; (at = text.find(selector + "{", at)) != std::string::npos; ++at) {
    if (at > 0 && text[at - 1] != '}' && text[at - 1] != '{') continue;
    const std::size_t begin = at + selector.size() + 1, end = text.find('}', begin);
    for (std::size_t from = begin; from < end;) {
      const std::size_t colon = text.find(':', from), stop = std::min(end, text.find(';', from));
      if (colon < stop && text.compare(from, 2, "--") == 0)
        out[text.substr(from + 2, colon - from - 2)] = text.substr(colon + 1, stop - colon - 1);
      from = stop + 1;
    }
  }
  return out;
}

Palette light() { return rule(":root"); }
Palette dark() {
  Palette out = light();
  for (const auto& [name, value] : rule(":root[data-theme=dark]")) out[name] = value;
  return out;
}

double luminance(const std::string& color) {
  if (color.size() != 7 && color.size() != 4) {
    ADD_FAILURE() << "no colour: '" << color << "'";
    return 0;
  }
  double out = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string digits = color.size() == 7 ? color.substr(1 + 2 * i, 2) : std::string(2, color[1 + i]);
    const double x = std::stoi(digits, nullptr, 16) / 255.0;
    out += weights[i] * (x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4));
  }
  return out;
}

double contrast(Palette& palette, const std::string& one, const std::string& other) {
  const auto [low, high] = std::minmax({luminance(palette[one]), luminance(palette[other])});
  return (high + 0.05) / (low + 0.05);
}

TEST(Palette, TheFormulaIsThatOfTheGuidelines) {
  Palette palette = {{"black", "#000000"}, {"white", "#fff"}, {"grey", "#777777"}};
  EXPECT_NEAR(contrast(palette, "black", "white"), 21, 1e-9);
  EXPECT_NEAR(contrast(palette, "grey", "white"), 4.48, 0.01);
}

TEST(Palette, DarkIsTheSameByChoiceAndByTheSystem) {
  const Palette chosen = rule(":root[data-theme=dark]"), system = rule(":root:not([data-theme=light])");
  EXPECT_GT(chosen.size(), 30U);
  EXPECT_EQ(chosen, system);
}

TEST(Palette, LinesAndAreasStandOutFromTheirPanel) {
  for (Palette palette : {light(), dark()}) {
    std::vector<std::string> lines = {"train", "test", "speed", "beside"};
    for (std::uint8_t i = 0; i < kTraffics; ++i) lines.emplace_back(name_of(static_cast<Traffic>(i)));
    for (const std::string& line : lines) EXPECT_GE(contrast(palette, line, "panel"), 3) << line << " " << palette[line];
  }
}

TEST(Palette, TextCanBeRead) {
  for (Palette palette : {light(), dark()}) {
    for (const char* text : {"ink", "muted", "accent", "good", "bad", "calm"}) {
      EXPECT_GE(contrast(palette, text, "panel"), 4.5) << text;
      EXPECT_GE(contrast(palette, text, "bg"), 4.5) << text;
      const std::string own = std::string(text) + "-bg";
      if (palette.contains(own)) {
        EXPECT_GE(contrast(palette, text, own), 4.5) << text;
      }
    }
  }
}

TEST(Palette, TheHeatMapRisesAndItsFiguresCanBeRead) {
  for (Palette palette : {light(), dark()}) {
    double before = -1;
    const bool falls = luminance(palette["heat-0"]) > luminance(palette["heat-6"]);
    for (int i = 0; i <= 6; ++i) {
      const std::string step = "heat-" + std::to_string(i);
      EXPECT_GE(contrast(palette, step, i <= 3 ? "heat-ink-low" : "heat-ink-high"), 4.5) << step;
      const double place = falls ? 1 - luminance(palette[step]) : luminance(palette[step]);
      EXPECT_GT(place, before) << step << ": one that rises can be read without seeing colours";
      before = place;
    }
  }
}

}  // namespace
}  // namespace hourglass
