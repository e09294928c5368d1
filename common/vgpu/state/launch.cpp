#include "common/vgpu/state/launch.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace roofwalk::vgpu {

void Launch::count_steps() {
  for (std::size_t i = 0; i < product_runs.size(); ++i) {
    const std::uint64_t times = std::exchange(product_runs[i].times, 0);
    const ProductRun& run = program.lockstep.product_runs[i];
    for (const auto* side : {&run.left, &run.right}) {
      for (const ProductRun::Load& load : side->loads) shared_memos[load.pc].lockstep_requests += times;
    }
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    SharedMemo& memo = shared_memos[i];
    const bool merged = program.shared_access(static_cast<std::uint32_t>(i)).is_merged();
    sites[i].requests += merged ? 0 : memo.lockstep_requests;
    sites[i].bytes += memo.lockstep_requests * memo.lockstep_bytes;
    sites[i].wavefronts += memo.lockstep_requests * memo.lockstep_wavefronts;
    sites[i].conflicts += memo.lockstep_requests * memo.lockstep_conflicts;
    memo.lockstep_requests = 0;
  }
}

Fault Launch::fault_at(const Warp& warp, FaultKind kind, int lane, std::string message) const {
  Fault out;
  out.kind = kind;
  out.block = warp.block->index;
  out.thread = thread_of(warp.index * kWarpSize + static_cast<std::uint32_t>(lane));
  out.message = std::move(message);
  return out;
}

void Launch::warn(const Warp& warp, const Op* op, int lane, std::string message) {
  constexpr std::size_t kMostWarnings = 8;
  const auto same = [&](const auto& known) { return known.first == op->pc; };
  if (warnings.size() == kMostWarnings || std::any_of(warnings.begin(), warnings.end(), same)) return;
  Fault warning = fault_at(warp, FaultKind::race, lane, std::move(message));
  warnings.emplace_back(op->pc, std::move(warning));
}

const Op* Launch::stop(const Warp& warp, const Op* op, FaultKind kind, int lane, std::string message) {
  if (fault) return nullptr;
  if (lane < 0) lane = std::countr_zero(warp.mask);
  fault = fault_at(warp, kind, lane, std::move(message));
  fault_pc = op->pc;
  return nullptr;
}

}  // namespace roofwalk::vgpu
