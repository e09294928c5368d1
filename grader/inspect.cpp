#include "grader/inspect.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace roofwalk {
namespace {

double count(const Counters& counters, Counter counter) { return static_cast<double>(counters[counter].value_or(0)); }

// Sectors that the same accesses would touch, had the bytes used lain side by side. A request whose 128-byte lines are
// all used in full is as good as it gets, however wide it is; a scattered one is held against 4 bytes a thread.
double ideal_sectors(double sectors, double lines, double requests) {
  constexpr double kSectorsPerLine = 4;
  const bool lines_are_full = lines > 0 && sectors >= 0.9 * kSectorsPerLine * lines;
  return lines_are_full ? sectors : std::min(sectors, kSectorsPerLine * requests);
}

std::vector<DiagnosisInput::Line> lines_of(const RunRecord& record) {
  std::map<int, DiagnosisInput::Line> by_line;
  for (const KernelRecord& kernel : record.kernels) {
    for (const LineCounters& of_line : kernel.lines) {
      const Counters& c = of_line.counters;
      DiagnosisInput::Line& line = by_line[of_line.line];
      const double loads = count(c, Counter::global_load_requests);
      const double stores = count(c, Counter::global_store_requests) + count(c, Counter::atomic_requests);
      const double sectors = count(c, Counter::l1_read_sectors) + count(c, Counter::l1_write_sectors);
      line.line = of_line.line;
      line.load_requests += loads;
      line.store_requests += stores;
      line.l1_sectors += sectors;
      line.ideal_l1_sectors += ideal_sectors(sectors, count(c, Counter::l1_lines), loads + stores);
      line.dram_bytes += count(c, Counter::dram_read_bytes) + count(c, Counter::dram_write_bytes);
      line.shared_bank_conflicts += count(c, Counter::shared_bank_conflicts);
      line.divergent_branches += count(c, Counter::divergent_branches);
    }
  }
  std::vector<DiagnosisInput::Line> lines;
  for (const auto& entry : by_line) lines.push_back(entry.second);
  return lines;
}

// The waits that a learner can do something about, in the words of the diagnosis.
constexpr std::pair<Wait, const char*> kWaitWords[] = {{Wait::dram, "DRAM"},
                                                       {Wait::l2, "L2"},
                                                       {Wait::l1, "L1"},
                                                       {Wait::shared, "shared memory"},
                                                       {Wait::bank_conflict, "bank conflicts"},
                                                       {Wait::barrier, "a barrier"},
                                                       {Wait::dependency, "the result of the instruction before"},
                                                       {Wait::pipe, "a busy pipe"}};

std::vector<DiagnosisInput::Waiting> waiting_in(const RunRecord& record) {
  WarpCycles all;
  std::map<int, WarpCycles> lines;
  for (const KernelRecord& kernel : record.kernels) {
    all.add(kernel.waits);
    for (const LineCounters& line : kernel.lines) lines[line.line].add(line.waits);
  }
  std::vector<DiagnosisInput::Waiting> waiting;
  if (all.total() == 0) return waiting;
  for (const auto& [wait, words] : kWaitWords) {
    const auto most = std::max_element(lines.begin(), lines.end(),
                                       [w = wait](const auto& a, const auto& b) { return a.second[w] < b.second[w]; });
    waiting.push_back({words, all[wait] / all.total(), most == lines.end() ? 0 : most->first});
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return waiting;
}

// Most bytes at DRAM; where a device does not count those by line, most sectors at L1.
int busiest_line(const std::vector<DiagnosisInput::Line>& lines) {
  const auto most = [&](auto amount) {
    const auto found = std::max_element(lines.begin(), lines.end(),
                                        [&](const auto& a, const auto& b) { return amount(a) < amount(b); });
    return found == lines.end() || amount(*found) <= 0 ? 0 : found->line;
  };
  const auto named = [](auto amount) { return [amount](const auto& l) { return l.line > 0 ? amount(l) : 0.0; }; };
  const int at_dram = most(named([](const auto& l) { return l.dram_bytes; }));
  return at_dram > 0 ? at_dram : most(named([](const auto& l) { return l.l1_sectors; }));
}

}  // namespace

Finding inspect(const RunRecord& record, const Measurement& m, const Machine& machine, const Roofs& roofs,
                const std::string& source_text) {
  DiagnosisInput in;
  in.useful_flops = m.useful_flops.value;
  in.executed_flops = m.executed_flops.value;
  in.compulsory_bytes = m.compulsory_bytes.value;
  in.dram_bytes = m.level("dram").bytes.value;
  in.l1_bytes = m.l1_bytes.value;
  in.l2_bytes = m.l2_bytes.value;
  in.observed_ai = m.level("dram").ai.value;
  in.algorithmic_ai = m.algorithmic_ai.value;
  if (const MemoryRoof* dram = roofs.memory_roof("dram"); dram != nullptr && !roofs.compute.empty()) {
    in.ridge = ridge_flops_per_byte(dram->bytes_per_s, roofs.compute.front().flops_per_s);
  }
  in.elapsed_ns = record.elapsed_ns;
  in.vertical_gap = m.vertical_gap.value;
  in.horizontal_gap = m.horizontal_gap.value;
  const KernelRecord* longest = nullptr;
  for (const KernelRecord& kernel : record.kernels) {
    const TimeParts& p = kernel.parts;
    in.dram_ns += p.dram_ns;
    in.l2_ns += p.l2_ns;
    in.l1_ns += p.l1_ns;
    in.shared_ns += p.shared_ns;
    in.issue_ns += p.issue_ns;
    in.flops_ns += p.flops_ns;
    in.latency_ns += p.latency_ns;
    in.launch_ns += p.launch_ns;
    if (longest == nullptr || kernel.elapsed_ns > longest->elapsed_ns) longest = &kernel;
  }
  if (longest != nullptr) {
    in.occupancy = longest->occupancy;
    in.blocks = static_cast<double>(longest->grid.count());
    in.resident_blocks = static_cast<double>(longest->resident_blocks_per_sm) * machine.sms;
  }
  in.shared_wavefronts = m.shared_wavefronts.value;
  in.shared_bank_conflicts = count(record.counters, Counter::shared_bank_conflicts);
  in.branches = count(record.counters, Counter::branches);
  in.divergent_branches = count(record.counters, Counter::divergent_branches);
  in.lines = lines_of(record);
  in.waiting = waiting_in(record);

  Finding finding{diagnose(in), busiest_line(in.lines), {}};
  finding.traffic_source = source_line(source_text, finding.traffic_line);
  return finding;
}

std::string source_line(const std::string& text, int line) {
  std::istringstream in(text);
  std::string found;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(in, found)) return {};
  }
  const auto first = found.find_first_not_of(" \t\r");
  if (line <= 0 || first == std::string::npos) return {};
  return found.substr(first, found.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace roofwalk
