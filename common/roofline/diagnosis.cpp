#include "common/roofline/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/roofline/losses.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

using Line = DiagnosisInput::Line;

constexpr double kWorthCuring = 0.15;     // of the time
constexpr double kMostlyBusy = 0.9;       // of the time
constexpr double kWellPlaced = 1.25;      // 80 % of the roof at the algorithm's AI: well optimized
constexpr double kNearRoof = 1.1;         // no cause worth naming
constexpr double kManySpilledBytes = 64;  // per thread: 16 spilled values are more than a loop's end causes

constexpr std::string_view kCauses[] = {
    cause::kOverRoof,            // more bytes or FLOPs per second than the machine has: skipped work, or a wrong roof
    cause::kLowPrecision,        // computed in fewer bits than required
    cause::kLaunchBound,         // the launches take the time: many, or one with almost no work
    cause::kFewBlocks,           // a grid that does not fill the GPU
    cause::kTail,                // a nearly empty last wave, or blocks of very different length
    cause::kSpills,              // a thread's values are in memory: out of registers, or arrays
    cause::kOverFetch,           // fetched sectors of which little is used
    cause::kBankConflicts,       // shared-memory accesses serialized
    cause::kDivergentConstants,  // lanes load different words of constant memory
    cause::kDivergence,          // the lanes of a warp take different branches
    cause::kExecutedOverUseful,  // unnecessary FLOPs, or the whole work repeated
    cause::kUnfused,             // arrays pass through DRAM from kernel to kernel
    cause::kRedundantLoads,      // blocks fetch what others, or they themselves, fetched before
    cause::kNoReuse,             // threads of a block load the same bytes repeatedly
    cause::kSumInMemory,         // a sum that every step loads and stores
    cause::kLowOccupancy,        // too few resident warps to hide latency
    cause::kBarriers,            // whole blocks wait for their loads
    cause::kDependency,          // each instruction waits for the previous one
    cause::kLatency,             // too few bytes in flight
    cause::kSharedTraffic,       // shared memory takes the time, without conflicts
    cause::kInstructionBound,    // issue slots are used for anything but arithmetic
    cause::kFpBound,             // the arithmetic itself takes the time
};

// The line with the largest amount; nullptr if all are zero.
template <class Amount>
const Line* worst_line(const std::vector<Line>& lines, Amount amount) {
  const Line* worst = nullptr;
  for (const Line& line : lines) {
    if (line.line > 0 && amount(line) > (worst ? amount(*worst) : 0)) worst = &line;
  }
  return worst;
}

int number_of(const Line* line) { return line ? line->line : 0; }

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// " (line 12)", or empty.
std::string place(int line) { return line > 0 ? fmt::format(" (line {})", line) : std::string(); }

const DiagnosisInput::Waiting* wait_of(const DiagnosisInput& in, std::string_view id) {
  const auto found = std::find_if(in.waiting.begin(), in.waiting.end(), [&](const auto& w) { return w.id == id; });
  return found == in.waiting.end() ? nullptr : &*found;
}

// The most common wait for memory; nullptr if unknown.
const DiagnosisInput::Waiting* wait_for_memory(const DiagnosisInput& in) {
  for (const auto& waiting : in.waiting) {
    if (waiting.id == "dram" || waiting.id == "l2" || waiting.id == "l1") return &waiting;
  }
  return nullptr;
}

// A cause in words, with figures and remedy, and the line to look at with a short text for it.
struct Words {
  std::string text;
  int line = 0;
  std::string brief;
  std::string figure = {};  // the figure that proves it, if words_for() does not know
};

// Kinds of waits of the last warp at a barrier; ids of one kind are grouped.
struct LastWarp {
  std::string_view ids, words;  // before "line N"
};
constexpr LastWarp kLastWarps[] = {{"dram l2 l1", "waits for the loads of "},
                                   {"shared", "waits for shared memory at "},
                                   {"bank_conflict", "waits for bank conflicts at "},
                                   {"constant", "waits for constant memory at "},
                                   {"dependency pipe", "waits for its own results at "},
                                   {"issued issue", "works at "}};

// The kind with the largest share, and its line; nullptr if unknown.
const LastWarp* kind_of(const std::vector<DiagnosisInput::Waiting::Part>& parts, int& line) {
  const LastWarp* found = nullptr;
  double most = 0;
  for (const LastWarp& kind : kLastWarps) {
    double all = 0, most_of_line = 0;
    int at = 0;
    for (const auto& part : parts) {
      if (kind.ids.find(part.id) == std::string_view::npos) continue;
      all += part.share;
      if (part.line > 0 && part.share > most_of_line) most_of_line = part.share, at = part.line;
    }
    if (all > most && at > 0) most = all, found = &kind, line = at;
  }
  return found;
}

Words launch_bound(const DiagnosisInput& in) {
  if (in.launches > 1) {
    return {fmt::format("{:.0f} launches take {} of the {}. Put the work into one launch, or a few.", in.launches,
                        time_text(in.launch_ns), time_text(in.elapsed_ns)),
            in.launch_line, fmt::format("{:.0f} launches take {}", in.launches, time_text(in.launch_ns))};
  }
  return {fmt::format("the launch alone takes {} of the {}, more than the work does. Give one launch more to do.",
                      time_text(in.launch_ns), time_text(in.elapsed_ns)),
          in.launch_line, "the launch takes longer than its work"};
}

Words few_blocks(const DiagnosisInput& in) {
  return {
      fmt::format("the grid has {:.0f} block{} where {:.0f} fit on the GPU at once, so most of it idles while a few "
                  "warps wait. Launch more blocks, each with less to do{}.",
                  in.blocks, in.blocks == 1 ? "" : "s", in.resident_blocks, place(in.launch_line)),
      in.launch_line,
      fmt::format("{:.0f} block{} where {:.0f} fit", in.blocks, in.blocks == 1 ? "" : "s", in.resident_blocks)};
}

Words tail(const DiagnosisInput& in) {
  const double waves = in.resident_blocks > 0 ? in.blocks / in.resident_blocks : 0;
  const double whole = static_cast<double>(static_cast<std::int64_t>(waves));
  const double left = in.blocks - whole * in.resident_blocks;
  const auto* empty = wait_of(in, "tail");
  const std::string idle =
      empty ? fmt::format(", and {} of the places for warps stand empty", percent(empty->share)) : "";
  constexpr double kManyWaves = 8;
  if (left > 0 && waves < kManyWaves) {
    return {
        fmt::format("{:.0f} blocks fit at once and the grid has {:.0f}: the last {:.0f} run on a GPU that is nearly "
                    "idle{}. Cut the work into a multiple of {:.0f} equal blocks, or into many small ones{}.",
                    in.resident_blocks, in.blocks, left, idle, in.resident_blocks, place(in.launch_line)),
        in.launch_line, fmt::format("the last {:.0f} of {:.0f} blocks run nearly alone", left, in.blocks)};
  }
  return {fmt::format("some blocks run far longer than the others{}. Share the work out evenly{}.", idle,
                      place(in.launch_line)),
          in.launch_line, "some blocks run far longer than the others"};
}

Words spills(const DiagnosisInput& in) {
  return {fmt::format("The compiler (ptxas) ran out of registers and keeps {:.0f} bytes of each thread in local "
                      "memory. The virtual GPU's time has the loads and stores for that as instructions that warps "
                      "wait for, but not their bytes: moved once out and once back, these take about {} more, and a "
                      "loop may move them each turn. Hold fewer values at once, or allow more registers "
                      "(__launch_bounds__){}.",
                      in.spilled_bytes_per_thread, time_text(in.spill_ns), place(in.launch_line)),
          in.launch_line, fmt::format("registers ran out: {:.0f} bytes a thread spill", in.spilled_bytes_per_thread)};
}

Words local_array(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.local_sectors; });
  return {
      fmt::format("{} of the {} at L1 are local memory, a thread's own arrays that cannot live in registers since "
                  "their indices are known only as it runs{}. Give loops over them constant bounds and unroll them, "
                  "or keep them in shared memory.",
                  percent(in.local_bytes / in.l1_bytes), si_text(in.l1_bytes, "B"),
                  line ? fmt::format(" (line {})", line->line) : ""),
      number_of(line), "a thread's own array, in local memory"};
}

Words over_fetch(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.l1_sectors - l.ideal_l1_sectors; });
  if (!line) return {"more sectors are fetched than needed.", 0, ""};
  const double requests = line->load_requests + line->store_requests;
  const char* access = line->store_requests == 0 ? "a load" : line->load_requests == 0 ? "a store" : "an access";
  // L1 answers one line at a time: with many lines per request, it is busy long before its bandwidth is used up.
  const bool l1_is_busy = in.l1_ns >= kMostlyBusy * in.elapsed_ns && line->l1_lines > requests;
  const std::string busy =
      l1_is_busy ? fmt::format(" L1 is busy {} of the time, answering {} lines {}.", percent(in.l1_ns / in.elapsed_ns),
                               number_text(line->l1_lines / requests), access)
                 : std::string();
  return {fmt::format("line {} asks for {} sectors {} on average where {} would do, since the threads of a warp touch "
                      "addresses far apart.{} Let neighbouring threads (threadIdx.x) touch neighbouring elements.",
                      line->line, number_text(line->l1_sectors / requests), access,
                      number_text(line->ideal_l1_sectors / requests), busy),
          line->line,
          fmt::format("{} sectors {} where {} would do", number_text(line->l1_sectors / requests), access,
                      number_text(line->ideal_l1_sectors / requests))};
}

Words bank_conflicts(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.shared_bank_conflicts; });
  return {
      fmt::format("{} of the shared-memory wavefronts are bank conflicts, where threads of a warp hit the same "
                  "bank{}. Let neighbouring threads read neighbouring words, or pad or swizzle the tile's rows: "
                  "by one float for float accesses, by four for float4.",
                  percent(in.shared_bank_conflicts / in.shared_wavefronts),
                  line ? fmt::format(", most at line {}", line->line) : ""),
      number_of(line),
      line ? fmt::format("{}-way bank conflicts",
                         number_text(line->shared_wavefronts / (line->shared_wavefronts - line->shared_bank_conflicts)))
           : ""};
}

Words divergent_constants(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.constant_passes - l.constant_requests; });
  const double words =
      line ? line->constant_passes / line->constant_requests : in.constant_passes / in.constant_requests;
  return {fmt::format("the threads of a warp read {0} different words of constant memory at once: {0} passes{1}, since "
                      "its cache hands out a word at a time. Keep there what all threads of a warp read together, and "
                      "what differs from thread to thread in an ordinary array, in shared memory or in registers.",
                      number_text(words), line ? fmt::format(" (line {})", line->line) : ""),
          number_of(line), fmt::format("{0} words of constant memory a load: {0} passes", number_text(words))};
}

Words divergence(const DiagnosisInput& in) {
  const Line* branch = worst_line(in.lines, [](const Line& l) { return l.divergent_branches; });
  return {
      fmt::format("{} of the branches split their warp{}, and each side then runs alone: {} of 32 lanes work on the "
                  "average. Let all threads of a warp take the same side.",
                  percent(in.divergent_branches / in.branches),
                  branch ? fmt::format(", most at line {}", branch->line) : "",
                  number_text(in.thread_instructions / in.warp_instructions)),
      number_of(branch), "splits its warps: each side runs alone"};
}

// The same results are computed and stored repeatedly.
Words repeated_work(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.flops > 0 ? l.store_requests : 0; });
  if (line == nullptr) line = worst_line(in.lines, [](const Line& l) { return l.store_requests; });
  const double repeats = repeats_of_work(in);
  constexpr double kNearlyAll = 0.5;
  if (in.blocks > 1 && repeats >= kNearlyAll * in.blocks) {
    return {fmt::format("every block does all the elements: {:.0f} blocks execute {} FLOPs for each useful one, and "
                        "store each result again. blockIdx is missing in the index{}: give each block a part of its "
                        "own.",
                        in.blocks, number_text(repeats), place(number_of(line))),
            number_of(line), "every block does all the elements"};
  }
  return {fmt::format("each result is computed {} times over and stored each time{}. Several threads or blocks have "
                      "the same index: compare the grid{} with what one block computes, one block for each piece.",
                      number_text(repeats), place(number_of(line)),
                      in.launch_line > 0 ? fmt::format(" of line {}", in.launch_line) : ""),
          number_of(line), fmt::format("computed and stored {} times over", number_text(repeats))};
}

Words executed_over_useful(const DiagnosisInput& in) {
  if (repeats_of_work(in) > 1) return repeated_work(in);
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.flops; });
  return {fmt::format("the kernel executes {} FLOPs for each useful one{}. Compute nothing twice and nothing that is "
                      "thrown away.",
                      number_text(in.executed_flops / in.useful_flops),
                      line ? fmt::format(", most at line {}", line->line) : ""),
          number_of(line),
          fmt::format("{} FLOPs executed for each useful one", number_text(in.executed_flops / in.useful_flops))};
}

Words unfused(const DiagnosisInput& in) {
  return {
      fmt::format(
          "{:.0f} kernels pass whole arrays on to each other through DRAM, or fetch the same ones again: {} "
          "where {} are compulsory. Fuse them: what one kernel reads or computes, the next should find in registers{}.",
          std::max(in.streaming_kernels, in.chained_kernels), si_text(in.dram_bytes, "B"),
          si_text(in.compulsory_bytes, "B"), place(in.launch_line)),
      in.launch_line,
      fmt::format("{:.0f} kernels pass arrays on through DRAM", std::max(in.streaming_kernels, in.chained_kernels))};
}

// The level where redundant bytes take the most time.
struct Level {
  const char* name;
  double bytes, ns;
};
Level slowest_level(const DiagnosisInput& in) {
  Level slowest{"L1", in.l1_bytes, in.l1_ns};
  for (const Level& level : {Level{"L2", in.l2_bytes, in.l2_ns}, Level{"DRAM", in.dram_bytes, in.dram_ns}}) {
    if (level.ns > slowest.ns) slowest = level;
  }
  return slowest;
}

// "each byte comes from DRAM 8.46 times": for the whole attempt, shown at the line with the most.
std::string redundancy_in_brief(const DiagnosisInput& in) {
  const Level level = slowest_level(in);
  return fmt::format("each byte comes from {} {} times", level.name, number_text(level.bytes / in.compulsory_bytes));
}

// "DRAM moves 106 MB for 12.6 MB of data, each byte 8.46 times".
std::string redundancy(const DiagnosisInput& in, const Level& level) {
  return fmt::format("{} moves {} for {} of data, each byte {} times", level.name, si_text(level.bytes, "B"),
                     si_text(in.compulsory_bytes, "B"), number_text(level.bytes / in.compulsory_bytes));
}

Words redundant_loads(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.dram_bytes > 0 ? l.dram_bytes : l.l1_sectors; });
  return {fmt::format("{}{}: the same bytes come again, from another block or from the same one after its cache lost "
                      "them. Where blocks share data, let each do more with what it loads (a larger tile); where one "
                      "reads its own again, keep it in registers or shared memory.",
                      redundancy(in, slowest_level(in)), line ? fmt::format(", most at line {}", line->line) : ""),
          number_of(line), redundancy_in_brief(in), slowest_level(in).name};
}

Words no_reuse(const DiagnosisInput& in) {
  const Level level = slowest_level(in);
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.l1_sectors; });
  return {fmt::format("{}{}: threads of a block load the same values again and again. Keep a tile in shared memory or "
                      "registers and reuse it.",
                      redundancy(in, level), line ? fmt::format(", most of it at line {}", line->line) : ""),
          number_of(line), redundancy_in_brief(in), level.name};
}

Words sum_in_memory(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.store_requests; });
  const std::string times = number_text(times_stored(in));
  return {fmt::format("each result is written to memory {} times{}, and every step waits for what the one before it "
                      "left there. Keep the sum in a register (float sum) and store it once, after the loop.",
                      times, place(number_of(line))),
          number_of(line), fmt::format("each result is written {} times", times)};
}

Words low_occupancy(const DiagnosisInput& in) {
  const auto* wait = wait_for_memory(in);
  return {fmt::format("only {} of the warps that an SM can hold are there to hide the waiting for memory{}. Use fewer "
                      "registers or less shared memory a block, or have more loads in flight a thread.",
                      percent(in.occupancy), place(wait ? wait->line : 0)),
          in.launch_line, fmt::format("only {} of the warps that an SM can hold", percent(in.occupancy))};
}

// Why no second block runs meanwhile.
std::string hardly_another(const DiagnosisInput& in) {
  if (in.limit.empty() || in.resident_blocks_per_sm > 1) {
    return "and hardly another block has work meanwhile";
  }
  return fmt::format("and no other block has work meanwhile: only one fits an SM, for {}", in.limit);
}

Words barriers(const DiagnosisInput& in) {
  constexpr double kOthersToRun = 2;
  const auto* wait = wait_of(in, "barrier");
  const int barrier_line = wait ? wait->line : 0;
  if (in.resident_blocks_per_sm > kOthersToRun) {
    return {fmt::format("warps stand at barriers {} of their time{}, until the slowest of their block is there. Use "
                        "fewer barriers: what stays within a warp needs none (__shfl_down_sync).",
                        percent(wait ? wait->share : 0), place(barrier_line)),
            barrier_line, fmt::format("warps stand here {} of their time", percent(wait ? wait->share : 0))};
  }
  const std::string last = wait ? last_warp_words(wait->last_warp) : "";
  const auto* load = wait_for_memory(in);
  const bool is_load = load && load->line > 0 && load->share > (wait ? wait->share : 0);
  if (!is_load && !last.empty() && !waits_for_loads(wait->last_warp)) {
    return {fmt::format("warps stand at the barrier{} {} of their time, {}. The last of their block {}. Give its warps "
                        "equal work and more of it between two barriers.",
                        place(barrier_line), percent(wait->share), hardly_another(in), last),
            barrier_line, fmt::format("the last warp {}", last)};
  }
  // A block whose warps load together waits together: if waiting for loads takes longer than waiting at barriers, start
  // with the load.
  const int line = is_load ? load->line : barrier_line;
  const std::string waits =
      is_load ? fmt::format("between its barriers the whole block waits for the loads of line {} at once", line)
              : fmt::format("at its barriers{} the whole block waits for the slowest load", place(line));
  const bool more_could_fit = in.limit.empty();
  return {fmt::format("{}, {}. Start the next tile's loads before computing on this one: two buffers, filled by "
                      "__pipeline_memcpy_async (cp.async){}.",
                      waits, hardly_another(in), more_could_fit ? ", or let more blocks share an SM" : ""),
          line,
          is_load        ? "all warps of the block wait for this at once"
          : last.empty() ? "the whole block waits here for its loads"
                         : fmt::format("the last warp {}", last)};
}

Words dependency(const DiagnosisInput& in) {
  const auto* wait = wait_of(in, "dependency");
  const int line = wait ? wait->line : 0;
  return {fmt::format("warps spend {} of their time waiting for the result of the instruction before{}, with too few "
                      "others to step in. Break the chain: several independent results a thread.",
                      percent(wait ? wait->share : 0), place(line)),
          line, "each instruction waits for the one before it"};
}

Words latency(const DiagnosisInput& in) {
  const auto* wait = wait_for_memory(in);
  return {fmt::format("too few bytes are in flight{}. Use 128-bit accesses (float4) and several independent loads a "
                      "thread.",
                      wait && in.latency_ns > 0 ? fmt::format(", and warps wait for {} {} of their time{}", wait->what,
                                                              percent(wait->share), place(wait->line))
                                                : ""),
          wait ? wait->line : 0, "too few bytes in flight"};
}

Words shared_traffic(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.shared_wavefronts; });
  return {fmt::format("shared memory takes {} of the {}{}, without many conflicts. Keep operands in registers: a "
                      "thread with a square of r x s outputs reads 1/r + 1/s values for each multiply-add.",
                      time_text(in.shared_ns), time_text(in.elapsed_ns),
                      line ? fmt::format(", most at line {}", line->line) : ""),
          number_of(line), "shared memory takes the time, without conflicts"};
}

std::string instructions_in_brief(const DiagnosisInput& in, const Line* line) {
  constexpr double kFlopsOfFma = 64;  // of a warp
  const double arithmetic = std::min(1.0, in.executed_flops / kFlopsOfFma / in.warp_instructions);
  if (line == nullptr || in.warp_instructions <= 0) return "more instructions than arithmetic";
  const bool is_access = line->shared_wavefronts + line->load_requests + line->store_requests > 0;
  return fmt::format("{} is no arithmetic, most here: {}", percent(1 - arithmetic),
                     is_access ? "use float4" : "unroll");
}

Words instruction_bound(const DiagnosisInput& in) {
  constexpr double kFlopsOfFma = 64;  // per warp
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.warp_instructions - l.flops / kFlopsOfFma; });
  return {fmt::format("the kernel issues {} warp instructions, where the FLOPs that the algorithm needs are {} fused "
                      "multiply-adds{}. Use wider accesses, unroll, and take index arithmetic out of the loop.",
                      si_text(in.warp_instructions, ""), si_text(in.useful_flops / kFlopsOfFma, ""),
                      line ? fmt::format("; most of the others are at line {}", line->line) : ""),
          number_of(line), instructions_in_brief(in, line)};
}

Words fp_bound(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.flops; });
  return {fmt::format("the arithmetic itself takes the time{}. Use fused multiply-adds, fewer divisions and special "
                      "functions.",
                      line ? fmt::format(", most at line {}", line->line) : ""),
          number_of(line), "the arithmetic itself takes the time"};
}

Words words_for(std::string_view id, const DiagnosisInput& in) {
  using Speaker = Words (*)(const DiagnosisInput&);
  constexpr std::pair<std::string_view, Speaker> kSpeakers[] = {{cause::kLaunchBound, launch_bound},
                                                                {cause::kFewBlocks, few_blocks},
                                                                {cause::kTail, tail},
                                                                {cause::kSpills, local_array},
                                                                {cause::kOverFetch, over_fetch},
                                                                {cause::kBankConflicts, bank_conflicts},
                                                                {cause::kDivergentConstants, divergent_constants},
                                                                {cause::kDivergence, divergence},
                                                                {cause::kExecutedOverUseful, executed_over_useful},
                                                                {cause::kUnfused, unfused},
                                                                {cause::kRedundantLoads, redundant_loads},
                                                                {cause::kNoReuse, no_reuse},
                                                                {cause::kSumInMemory, sum_in_memory},
                                                                {cause::kLowOccupancy, low_occupancy},
                                                                {cause::kBarriers, barriers},
                                                                {cause::kDependency, dependency},
                                                                {cause::kLatency, latency},
                                                                {cause::kSharedTraffic, shared_traffic},
                                                                {cause::kInstructionBound, instruction_bound},
                                                                {cause::kFpBound, fp_bound}};
  const auto found =
      std::find_if(std::begin(kSpeakers), std::end(kSpeakers), [&](const auto& s) { return s.first == id; });
  return found->second(in);
}

std::string_view figure_of(std::string_view cause) {
  constexpr std::pair<std::string_view, std::string_view> kFigures[] = {{cause::kDivergentConstants, "passes"},
                                                                        {cause::kOverFetch, "sectors"},
                                                                        {cause::kBankConflicts, "ways"},
                                                                        {cause::kDivergence, "lanes"},
                                                                        {cause::kExecutedOverUseful, "FLOPs"},
                                                                        {cause::kUnfused, "DRAM"},
                                                                        {cause::kSpills, "L1"},
                                                                        {cause::kSharedTraffic, "shared"},
                                                                        {cause::kInstructionBound, "runs"},
                                                                        {cause::kFpBound, "FLOPs"}};
  const auto found =
      std::find_if(std::begin(kFigures), std::end(kFigures), [&](const auto& f) { return f.first == cause; });
  return found == std::end(kFigures) ? "" : found->second;
}

// The gap, then the cause: "The dot is x4.3 too low: ...".
std::string with_gap(const DiagnosisInput& in, bool is_bytes, const std::string& why) {
  const double gap = is_bytes ? in.horizontal_gap : in.vertical_gap;
  if (gap < kNearRoof) return static_cast<char>(std::toupper(static_cast<unsigned char>(why.front()))) + why.substr(1);
  return fmt::format("The dot is x{} too {}: {}", number_text(gap), is_bytes ? "far left" : "low", why);
}

Diagnosis low_precision(const DiagnosisInput& in) {
  return {std::string(cause::kLowPrecision),
          fmt::format("The errors are of the size that 16-bit floats make{}, and 32 bits were asked for. Keep values "
                      "and sums in float: a lower precision is another exercise, with another roof.",
                      place(in.suspect_line)),
          in.suspect_line, 0, "errors as large as 16-bit floats make"};
}

Diagnosis over_roof(const DiagnosisInput& in) {
  const Line* line = worst_line(in.lines, [](const Line& l) { return l.flops; });
  if (in.executed_flops + in.atomic_flops < kLeastOfUsefulFlops * in.useful_flops) {
    return {
        std::string(cause::kOverRoof),
        fmt::format("The dot stands where no dot can: {} were executed where the algorithm has {}, so it counts work "
                    "that was not done. Do all of it, as the chapter describes it{}.",
                    si_text(in.executed_flops, "FLOP"), si_text(in.useful_flops, "FLOP"), place(number_of(line))),
        number_of(line), 0, "counts work that was not done"};
  }
  if (in.dram_bytes < kLeastOfCompulsoryBytes * in.compulsory_bytes) {
    return {
        std::string(cause::kOverRoof),
        fmt::format("The dot stands right of where any can: {} were moved where {} are compulsory. Part of the data "
                    "was not read, or a cache still held it: read every input and write every output.",
                    si_text(in.dram_bytes, "B"), si_text(in.compulsory_bytes, "B"))};
  }
  return {std::string(cause::kOverRoof),
          fmt::format("The dot is {} above its roof, which cannot be. The data came from a cache, whose roof is "
                      "higher, or work was skipped: measure with a size that no cache holds.",
                      percent(1 / in.vertical_gap - 1))};
}

// Text for a dot without a cause.
std::string standing(const DiagnosisInput& in) {
  const std::string share = percent(1 / std::max(1.0, in.vertical_gap));
  if (in.vertical_gap <= 0 || total_gap(in) > kWellPlaced) {
    return fmt::format("No single cause stands out at {} of the roof.", share);
  }
  const bool close = in.vertical_gap <= kNearRoof;
  if (in.observed_ai >= in.ridge) {
    return fmt::format("The dot is at {} of the compute roof: {}", share,
                       close ? "well placed. Only another algorithm or a lower precision goes further."
                             : "little is left. More independent arithmetic a thread may give the rest.");
  }
  return fmt::format("The dot is at {} of the memory roof and moves hardly a byte too many: {}", share,
                     close ? "well placed. Only fusion with a neighbouring kernel goes further."
                           : "little is left. 128-bit accesses (float4) may give the rest.");
}

}  // namespace

std::string last_warp_words(const std::vector<DiagnosisInput::Waiting::Part>& parts) {
  int line = 0;
  const LastWarp* kind = kind_of(parts, line);
  return kind == nullptr ? "" : fmt::format("{}line {}", kind->words, line);
}

bool waits_for_loads(const std::vector<DiagnosisInput::Waiting::Part>& parts) {
  int line = 0;
  return kind_of(parts, line) == std::begin(kLastWarps);
}

std::span<const std::string_view> diagnosis_causes() { return kCauses; }

std::vector<Diagnosis> diagnose(const DiagnosisInput& in) {
  if (in.looks_like_half) return {low_precision(in)};
  if (in.elapsed_ns <= 0) return {};
  if (in.is_impossible) return {over_roof(in)};
  std::vector<Diagnosis> found;
  const bool has_gap = total_gap(in) > kWellPlaced;
  for (const Loss& loss : losses(in)) {
    const double share = loss.ns / in.elapsed_ns;
    // Close to the roof, only fusion gains more.
    if (share < kWorthCuring || (!has_gap && loss.cause != cause::kUnfused)) continue;
    auto [text, line, brief, figure] = words_for(loss.cause, in);
    if (figure.empty()) figure = figure_of(loss.cause);
    found.push_back(
        {std::string(loss.cause), with_gap(in, loss.is_bytes, text), line, share, std::move(brief), std::move(figure)});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  // First, whatever its share: how often a loop moves spilled values is not counted, and all other figures describe a
  // kernel without them.
  const double spilled = in.spill_ns / (in.elapsed_ns + in.spill_ns);
  if (spilled >= kWorthCuring || (has_gap && in.spilled_bytes_per_thread >= kManySpilledBytes)) {
    auto [text, line, brief, figure] = spills(in);
    found.insert(found.begin(),
                 {std::string(cause::kSpills), std::move(text), line, spilled, std::move(brief), std::move(figure)});
  }
  return found;
}

Diagnosis first_diagnosis(const DiagnosisInput& in, const std::vector<Diagnosis>& found) {
  return found.empty() ? Diagnosis{"none", standing(in)} : found.front();
}

}  // namespace roofwalk
