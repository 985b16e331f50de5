// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hourglass {

/// How many processors this process may keep busy: the smallest of its affinity mask and the cgroup quotas (v2 cpu.max, v1 cfs_quota)
/// of its group and the groups above, rounded up; at least 1.
std::uint32_t usable_processors();

/// The quota of a cgroup v2 cpu.max text ("200000 100000" is 2); 0 where there is none ("max 100000") or the text is something else.
double quota_from_cpu_max(const std::string& text);
/// As usable_processors(), for a cgroup file system mounted at `root`, a process in group `group` ("/a/b") and `processors` in its mask.
std::uint32_t usable_processors(const std::string& root, const std::string& group, std::uint32_t processors);

}  // namespace hourglass
