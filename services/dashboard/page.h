// SPDX-License-Identifier: Apache-2.0
// The page as the server sends it: the frame, with today's figures as plain tables for browsers without scripts.
#pragma once

#include <string>
#include <string_view>

#include "actors/monitor_state.h"
#include "services/dashboard/findings.h"

namespace hourglass {

std::string page_html(const DashboardState& state, const Findings& findings = {});
/// Text made safe between tags and inside quoted attributes.
std::string escape_html(std::string_view text);

}  // namespace hourglass
