#include "common/vgpu/timing/stretches.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/vgpu/timing/lower_bounds.h"

namespace roofwalk::vgpu {
namespace {

constexpr double kWaves = 2;         // least length of a stretch, in numbers of blocks that run at once
constexpr double kAlike = 1.1;       // stretches are alike if they take hardly longer than a mixture of their blocks
constexpr std::size_t kMembers = 4;  // traces of each stratum whose work is added up

// What blocks take of each unit of the machine.
struct UnitWork {
  double issues = 0, l1_lines = 0, l1_wavefronts = 0, shared_wavefronts = 0, l2_sectors = 0, dram_sectors = 0;
  double units[kUnitCount] = {};
  double alone_cycles = 0;  // time of each block when it is alone on an SM

  void add(const UnitWork& more, double times) {
    issues += times * more.issues;
    l1_lines += times * more.l1_lines;
    l1_wavefronts += times * more.l1_wavefronts;
    shared_wavefronts += times * more.shared_wavefronts;
    l2_sectors += times * more.l2_sectors;
    dram_sectors += times * more.dram_sectors;
    for (std::size_t u = 0; u < kUnitCount; ++u) units[u] += times * more.units[u];
    alone_cycles += times * more.alone_cycles;
  }
};

double busiest_cycles(const TimingInput& input, const UnitWork& work) {
  const Machine& machine = input.machine;
  const double of_sms = std::max(
      {work.issues / machine.schedulers_per_sm, arithmetic_cycles(machine, work.units),
       work.l1_lines / machine.l1_lines_per_clock, work.l1_wavefronts * kLineBytes / machine.l1_bytes_per_clock,
       work.shared_wavefronts * kLineBytes / machine.shared_bytes_per_clock, work.alone_cycles / input.blocks_per_sm});
  const double dram_bytes_per_clock = machine.dram_bytes_per_s * machine.dram_sustained_share / machine.clock_hz;
  return std::max({of_sms / machine.sms, work.l2_sectors * kSectorBytes / machine.l2_bytes_per_clock,
                   work.dram_sectors * kSectorBytes / dram_bytes_per_clock});
}

// Adds the recorded work of a traced block.
void add_trace(const TimingInput& input, const std::vector<EntryWork>& entries, const BlockTrace& block,
               UnitWork& sum) {
  for (const WarpTrace& warp : block.warps) {
    auto outcome = warp.outcomes.begin();
    for (const std::uint32_t entered : warp.blocks) {
      const BasicBlock& entry = input.program.blocks[warp.block_of(entered)];
      // The parts of an entry take together what a whole one takes.
      if (!WarpTrace::is_part(entered) || warp.part_of(entered).first == entry.first) {
        const EntryWork& work = entries[warp.block_of(entered)];
        sum.issues += work.issues;
        for (std::size_t u = 0; u < kUnitCount; ++u) sum.units[u] += work.units[u];
      }
      for (std::size_t i = warp.before(entered); i < entry.memory.size(); ++i) {
        const std::uint32_t pc = entry.memory[i];
        const Outcome& of = *outcome++;
        sum.l2_sectors += of.l2_read_sectors + of.l2_write_sectors;
        sum.dram_sectors += of.dram_read_sectors + of.dram_write_sectors;
        sum.shared_wavefronts += of.shared_wavefronts;
        if (input.program.function->instructions[pc].space == ptx::Space::constant) continue;
        sum.l1_lines += of.lines;
        sum.l1_wavefronts += of.wavefronts;
      }
    }
  }
}

// Returns the work of an average block of each stratum; that of an untraced stratum is unknown and 0.
std::vector<UnitWork> work_by_stratum(const TimingInput& input, const AloneTimes& alone) {
  const std::vector<EntryWork> entries = entry_works(input.schedule);
  std::vector<UnitWork> out(input.trace.strata.size());
  std::vector<std::size_t> members(out.size());
  for (std::uint32_t i = 0; i < input.trace.blocks.size(); ++i) {
    const BlockTrace& block = input.trace.blocks[i];
    if (block.instructions == 0 || members[block.stratum] == kMembers) continue;
    ++members[block.stratum];
    UnitWork recorded{.alone_cycles = alone.of(i).value_or(0)};
    add_trace(input, entries, block, recorded);
    const double cut = static_cast<double>(block.work.instructions) / static_cast<double>(block.instructions);
    out[block.stratum].add(recorded, cut);
  }
  for (std::size_t s = 0; s < out.size(); ++s) {
    UnitWork average;
    if (members[s] != 0) average.add(out[s], 1.0 / static_cast<double>(members[s]));
    out[s] = average;
  }
  return out;
}

// Returns the number of cells (strata.h) that hold as many blocks as `waves` times those that run at once.
std::size_t cells_of_waves(const TimingInput& input, double waves) {
  const double blocks = waves * static_cast<double>(input.machine.sms) * input.blocks_per_sm;
  return static_cast<std::size_t>(std::ceil(blocks / static_cast<double>(blocks_per_cell(input.grid_blocks))));
}

std::size_t cells_of(const TimingInput& input) {
  return static_cast<std::size_t>((input.grid_blocks - 1) / blocks_per_cell(input.grid_blocks)) + 1;
}

}  // namespace

double cycles_of_stretches(const TimingInput& input, const AloneTimes& alone) {
  const std::size_t cells = cells_of(input), length = cells_of_waves(input, kWaves);
  if (cells < 2 * length || input.trace.strata.size() < 2) return 0;
  const std::vector<UnitWork> works = work_by_stratum(input, alone);
  std::vector<UnitWork> until(cells + 1);  // by cell: work of all cells before it
  for (std::size_t c = 0; c < cells; ++c) {
    until[c + 1] = until[c];
    for (std::size_t s = 0; s < works.size(); ++s) {
      if (const std::uint32_t blocks = input.trace.strata[s].by_cell[c]; blocks != 0)
        until[c + 1].add(works[s], blocks);
    }
  }
  const auto cycles = [&](std::size_t from, std::size_t to) {
    UnitWork work = until[to];
    work.add(until[from], -1);
    return busiest_cycles(input, work);
  };
  // By number of cells: the longest time of any division into stretches; 0: there is none.
  std::vector<double> longest(cells + 1);
  for (std::size_t end = length; end <= cells; ++end) {
    for (std::size_t begin = end < 2 * length ? 0 : end - 2 * length + 1; begin + length <= end; ++begin) {
      if (begin != 0 && longest[begin] == 0) continue;
      longest[end] = std::max(longest[end], longest[begin] + cycles(begin, end));
    }
  }
  return longest[cells] <= kAlike * cycles(0, cells) ? 0 : longest[cells];
}

}  // namespace roofwalk::vgpu
