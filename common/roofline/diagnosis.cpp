#include "common/roofline/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/roofline/si.h"

namespace roofwalk {
namespace {

using Line = DiagnosisInput::Line;

constexpr double kNearRoof = 1.1;        // a vertical gap up to this leaves nothing worth naming
constexpr double kWellPlaced = 1.25;     // 80 % of the roof: well optimized
constexpr double kOverFetch = 1.5;       // sectors asked for over sectors needed; 1.25 is mere misalignment
constexpr double kDominates = 1.5;       // one part of the time against every other one
constexpr double kLaunchShare = 0.3;     // of the time
constexpr double kConflictShare = 0.25;  // of the shared-memory wavefronts
constexpr double kDivergentShare = 0.1;  // of the branches
constexpr double kExtraFlops = 1.25;     // executed over useful
constexpr double kRedundant = 1.25;      // bytes at a level over compulsory bytes
constexpr double kVeryRedundant = 8;
constexpr double kLowOccupancy = 0.5;

constexpr std::string_view kCauses[] = {
    "over_roof",             // more bytes or FLOPs a second than the machine has: a wrong measurement or skipped work
    "low_precision",         // computed in fewer bits than asked
    "launch_bound",          // the launches take the time: many, or one with next to nothing to do
    "few_blocks",            // a grid that does not fill the GPU
    "tail",                  // a last wave that is nearly empty
    "spills",                // registers that ran out and live in memory
    "over_fetch",            // sectors fetched of which little is used
    "bank_conflicts",        // shared-memory accesses that take turns
    "divergence",            // the lanes of a warp go different ways
    "executed_over_useful",  // FLOPs nobody asked for
    "unfused",               // intermediates that go through DRAM between kernels
    "redundant_loads",       // every block fetches what other blocks fetched before
    "no_reuse",              // threads of a block load the same bytes again and again
    "low_occupancy",         // too few resident warps to hide the waiting
    "barriers",              // whole blocks stand still until their loads are there
    "dependency",            // each instruction waits for the one before it
    "latency",               // too few bytes in flight
    "shared_traffic",        // shared memory takes the time, without conflicts
    "instruction_bound",     // issue slots go to anything but arithmetic
    "fp_bound",              // the arithmetic itself takes the time
};

constexpr std::string_view kBarrierWait = "a barrier";

enum class Part { unknown, dram, l2, l1, shared, issue, flops, latency };

// The input and what several rules ask of it.
struct Facts {
  const DiagnosisInput& in;
  Part bound = Part::unknown;  // the part that takes most of the time
  double bound_ns = 0;
  double traffic_ns = 0;  // the slowest memory level
  double work_ns = 0;     // the slowest part that is not waiting
  double sectors = 0, ideal_sectors = 0;

  explicit Facts(const DiagnosisInput& input) : in(input) {
    const auto consider = [&](Part part, double ns) {
      if (ns > bound_ns) {
        bound = part;
        bound_ns = ns;
      }
    };
    consider(Part::dram, in.dram_ns);
    consider(Part::l2, in.l2_ns);
    consider(Part::l1, in.l1_ns);
    consider(Part::shared, in.shared_ns);
    consider(Part::issue, in.issue_ns);
    consider(Part::flops, in.flops_ns);
    consider(Part::latency, in.latency_ns);
    traffic_ns = std::max({in.dram_ns, in.l2_ns, in.l1_ns});
    work_ns = std::max({traffic_ns, in.shared_ns, in.issue_ns, in.flops_ns});
    for (const Line& line : in.lines) {
      sectors += line.l1_sectors;
      ideal_sectors += line.ideal_l1_sectors;
    }
  }

  bool bound_by(std::initializer_list<Part> parts) const {
    return bound == Part::unknown || std::find(parts.begin(), parts.end(), bound) != parts.end();
  }
  bool over_fetches() const { return ideal_sectors > 0 && sectors >= kOverFetch * ideal_sectors; }
};

// The line with the most of something; nullptr where no line has any.
template <class Amount>
const Line* worst_line(const std::vector<Line>& lines, Amount amount) {
  const Line* worst = nullptr;
  for (const Line& line : lines) {
    if (line.line > 0 && amount(line) > (worst ? amount(*worst) : 0)) worst = &line;
  }
  return worst;
}

int number_of(const Line* line) { return line ? line->line : 0; }

// "Line 14 has", or "The kernel has" where no line is known.
std::string subject(const Line* line) { return line ? fmt::format("Line {}", line->line) : "The kernel"; }

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// On a roof, with nothing to gain along the other axis.
std::optional<Diagnosis> near_roof(const Facts& f) {
  if (f.in.vertical_gap <= 0 || f.in.vertical_gap > kWellPlaced) return std::nullopt;
  const std::string share = percent(1 / f.in.vertical_gap);
  const bool close = f.in.vertical_gap <= kNearRoof;
  if (f.in.observed_ai >= f.in.ridge) {
    return Diagnosis{close ? "none" : "near_roof",
                     fmt::format("The dot is at {} of the compute roof: {}", share,
                                 close ? "well placed. Only another algorithm or a lower precision goes further."
                                       : "little is left. More independent arithmetic a thread may give the rest."),
                     0};
  }
  if (f.in.horizontal_gap > kNearRoof) return std::nullopt;
  return Diagnosis{close ? "none" : "near_roof",
                   fmt::format("The dot is at {} of the memory roof and moves hardly a byte too many: {}", share,
                               close ? "well placed. Only fusion with a neighbouring kernel goes further."
                                     : "little is left. 128-bit accesses (float4) may give the rest."),
                   0};
}

std::optional<Diagnosis> launch_bound(const Facts& f) {
  if (f.in.launch_ns <= 0 || f.in.launch_ns < kLaunchShare * f.in.elapsed_ns) return std::nullopt;
  return Diagnosis{"launch_bound",
                   fmt::format("Launching takes {} of the {}, more than the work deserves. Put more work into fewer "
                               "launches.",
                               time_text(f.in.launch_ns), time_text(f.in.elapsed_ns)),
                   0};
}

std::optional<Diagnosis> few_blocks(const Facts& f) {
  if (f.in.blocks <= 0 || f.in.blocks >= f.in.resident_blocks || !f.bound_by({Part::latency})) return std::nullopt;
  if (f.bound == Part::latency && f.in.latency_ns < kDominates * f.work_ns) return std::nullopt;
  const bool one = f.in.blocks == 1;
  return Diagnosis{"few_blocks",
                   fmt::format("The grid has {:.0f} block{} where {:.0f} fit on the GPU at once, so most of it idles "
                               "while a few warps wait for memory. Launch more blocks, each with less to do.",
                               f.in.blocks, one ? "" : "s", f.in.resident_blocks),
                   0};
}

std::optional<Diagnosis> over_fetch(const Facts& f) {
  if (!f.over_fetches() || !f.bound_by({Part::dram, Part::l2, Part::l1, Part::latency})) return std::nullopt;
  const Line* line = worst_line(f.in.lines, [](const Line& l) { return l.l1_sectors - l.ideal_l1_sectors; });
  if (!line) return std::nullopt;
  const double requests = line->load_requests + line->store_requests;
  const char* access = line->store_requests == 0 ? "a load" : line->load_requests == 0 ? "a store" : "an access";
  return Diagnosis{"over_fetch",
                   fmt::format("{} asks for {} sectors {} where {} would do: the threads of a warp touch addresses "
                               "far apart. Let neighbouring threads (threadIdx.x) touch neighbouring elements.",
                               subject(line), number_text(line->l1_sectors / requests), access,
                               number_text(line->ideal_l1_sectors / requests)),
                   line->line};
}

std::optional<Diagnosis> bank_conflicts(const Facts& f) {
  if (f.in.shared_bank_conflicts <= 0 || !f.bound_by({Part::shared, Part::latency})) return std::nullopt;
  if (f.in.shared_bank_conflicts < kConflictShare * f.in.shared_wavefronts) return std::nullopt;
  const Line* line = worst_line(f.in.lines, [](const Line& l) { return l.shared_bank_conflicts; });
  return Diagnosis{"bank_conflicts",
                   fmt::format("{}{} of the shared-memory wavefronts are bank conflicts: threads of a warp hit the "
                               "same bank. Pad the tile's rows by one element, or swizzle them.",
                               line ? subject(line) + " is the worst: " : "",
                               percent(f.in.shared_bank_conflicts / f.in.shared_wavefronts)),
                   number_of(line)};
}

std::optional<Diagnosis> divergence(const Facts& f) {
  if (f.in.divergent_branches <= 0 || !f.bound_by({Part::issue, Part::flops, Part::latency})) return std::nullopt;
  if (f.in.divergent_branches < kDivergentShare * f.in.branches) return std::nullopt;
  const Line* line = worst_line(f.in.lines, [](const Line& l) { return l.divergent_branches; });
  return Diagnosis{"divergence",
                   fmt::format("{} of the branches split their warp, and each side then runs alone{}. Let all 32 "
                               "threads of a warp take the same side.",
                               percent(f.in.divergent_branches / f.in.branches),
                               line ? fmt::format(" (line {} most)", line->line) : ""),
                   number_of(line)};
}

std::optional<Diagnosis> executed_over_useful(const Facts& f) {
  if (f.in.useful_flops <= 0 || !f.bound_by({Part::issue, Part::flops})) return std::nullopt;
  if (f.in.executed_flops < kExtraFlops * f.in.useful_flops) return std::nullopt;
  return Diagnosis{"executed_over_useful",
                   fmt::format("The kernel executes {} FLOPs for each useful one. Compute nothing twice and nothing "
                               "that is thrown away.",
                               number_text(f.in.executed_flops / f.in.useful_flops)),
                   0};
}

// ", and warps wait for DRAM 63 % of their time (line 12)"; empty where it is not known.
std::string main_wait(const Facts& f) {
  if (f.in.waiting.empty()) return {};
  const auto& most = f.in.waiting.front();
  return fmt::format(", and warps wait for {} {} of their time{}", most.what, percent(most.share),
                     most.line > 0 ? fmt::format(" (line {})", most.line) : "");
}

// Coalesced, yet the same bytes again and again through the level that takes the time.
std::optional<Diagnosis> no_reuse(const Facts& f) {
  if (f.in.compulsory_bytes <= 0 || !f.bound_by({Part::dram, Part::l2, Part::l1, Part::latency})) return std::nullopt;
  struct Level {
    const char* name;
    double bytes, ns;
    const char* lever;
  };
  const Level levels[] = {
      {"L1", f.in.l1_bytes, f.in.l1_ns, "Keep a tile in shared memory or registers and reuse it"},
      {"L2", f.in.l2_bytes, f.in.l2_ns, "Let each block reuse more of what it loads: larger tiles"},
      {"DRAM", f.in.dram_bytes, f.in.dram_ns, "Let each block reuse more of what it loads: larger tiles"},
  };
  const Level* level = &levels[0];
  for (const Level& candidate : levels) {
    if (candidate.ns > level->ns) level = &candidate;
  }
  // A wait is the wait for these very bytes, unless they are few or moving them would take far less time.
  const bool waits = f.bound == Part::latency;
  if (level->bytes < (waits ? kVeryRedundant : kRedundant) * f.in.compulsory_bytes) return std::nullopt;
  if (waits && f.traffic_ns < 0.5 * f.bound_ns) return std::nullopt;
  const Line* line = worst_line(f.in.lines, [&](const Line& l) {
    return level->ns == f.in.dram_ns && l.dram_bytes > 0 ? l.dram_bytes : l.l1_sectors;
  });
  return Diagnosis{
      "no_reuse",
      fmt::format("{} moves {} for {} of data, each byte {} times{}{}. {}.", level->name, si_text(level->bytes, "B"),
                  si_text(f.in.compulsory_bytes, "B"), number_text(level->bytes / f.in.compulsory_bytes),
                  line ? fmt::format(", most of it at line {}", line->line) : "", waits ? main_wait(f) : "",
                  level->lever),
      number_of(line)};
}

// Every warp of a block stands still together, and nothing else runs meanwhile.
std::optional<Diagnosis> barriers(const Facts& f) {
  if (f.bound != Part::latency || f.in.waiting.empty() || f.in.waiting.front().what != kBarrierWait)
    return std::nullopt;
  const auto& most = f.in.waiting.front();
  return Diagnosis{"barriers",
                   fmt::format("Warps wait at barriers {} of their time{}: all stand still until the slowest load of "
                               "the block is there. Start the next tile's loads before computing on this one "
                               "(cp.async, two buffers), or let more blocks share an SM.",
                               percent(most.share), most.line > 0 ? fmt::format(", most at line {}", most.line) : ""),
                   most.line};
}

// Waiting, with too little on its way.
std::optional<Diagnosis> latency(const Facts& f) {
  const bool left_of_ridge = f.in.observed_ai < f.in.ridge;
  if (f.bound != Part::latency && !(f.bound == Part::unknown && left_of_ridge)) return std::nullopt;
  if (f.bound == Part::unknown && f.in.vertical_gap <= kWellPlaced) return std::nullopt;
  if (f.in.occupancy > 0 && f.in.occupancy < kLowOccupancy) {
    return Diagnosis{"low_occupancy",
                     fmt::format("Only {} of the warps that an SM can hold are there to hide the waiting for memory. "
                                 "Use fewer registers or less shared memory a block, or more loads in flight a thread.",
                                 percent(f.in.occupancy)),
                     0};
  }
  const std::string times = f.bound == Part::latency && f.traffic_ns > 0
                                ? fmt::format(": waiting takes {}, moving the bytes {}{}", time_text(f.in.latency_ns),
                                              time_text(f.traffic_ns), main_wait(f))
                                : std::string();
  return Diagnosis{"latency",
                   fmt::format("Too few bytes are in flight{}. Use 128-bit accesses (float4) and several independent "
                               "loads a thread.",
                               times),
                   f.in.waiting.empty() ? 0 : f.in.waiting.front().line};
}

std::optional<Diagnosis> pipes(const Facts& f) {
  if (f.bound == Part::shared) {
    return Diagnosis{"shared_traffic",
                     fmt::format("Shared memory takes {} of the {}, without many conflicts. Keep operands in "
                                 "registers: several outputs a thread.",
                                 time_text(f.in.shared_ns), time_text(f.in.elapsed_ns)),
                     0};
  }
  if (f.bound == Part::issue) {
    return Diagnosis{"instruction_bound",
                     fmt::format("Issuing instructions takes {} of the {}, more than the arithmetic needs. Use wider "
                                 "accesses, unroll, and take index arithmetic out of the loop.",
                                 time_text(f.in.issue_ns), time_text(f.in.elapsed_ns)),
                     0};
  }
  if (f.bound == Part::flops || (f.bound == Part::unknown && f.in.vertical_gap > kWellPlaced)) {
    return Diagnosis{"fp_bound",
                     "The arithmetic itself takes the time. Use fused multiply-adds, fewer divisions and special "
                     "functions, and several independent accumulators a thread.",
                     0};
  }
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> diagnosis_causes() { return kCauses; }

Diagnosis diagnose(const DiagnosisInput& input) {
  const Facts facts(input);
  if (input.vertical_gap <= kNearRoof) {
    if (auto found = near_roof(facts)) return *found;
  }
  using Rule = std::optional<Diagnosis> (*)(const Facts&);
  constexpr Rule kRules[] = {launch_bound, few_blocks, over_fetch, bank_conflicts, divergence, executed_over_useful,
                             no_reuse,     barriers,   latency,    pipes,          near_roof};
  for (const Rule rule : kRules) {
    if (auto found = rule(facts)) return *found;
  }
  return {"none",
          fmt::format("No single cause stands out at {} of the roof.", percent(1 / std::max(1.0, input.vertical_gap))),
          0};
}

}  // namespace roofwalk
