#include "tests/random/compare.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "common/ptx/module.h"
#include "common/vgpu/gpu.h"
#include "common/vgpu/program/kernel_code.h"
#include "tests/random/reference.h"

namespace roofwalk::random {
namespace {

struct MachineRun {
  std::string refused;
  RunRecord record;
  std::array<std::vector<std::uint8_t>, kBufferCount> buffers;
};

// Every program runs in all these ways: different paths through the virtual GPU must give the same results.
struct Way {
  const char* how;
  int threads = 1;
  bool traced = true, lockstep = true, sanitize = false, counts = true;
};
constexpr Way kWays[] = {
    {.how = "on one thread"},
    {.how = "on two threads", .threads = 2},
    {.how = "without traces", .traced = false},
    {.how = "lane by lane, without traces", .traced = false, .lockstep = false},
    {.how = "sanitized", .sanitize = true},
    {.how = "with memory not counted", .traced = false, .counts = false},
    {.how = "with memory not counted, on two threads", .threads = 2, .traced = false, .counts = false},
    {.how = "with memory not counted, lane by lane, sanitized",
     .traced = false,
     .lockstep = false,
     .sanitize = true,
     .counts = false},
};

class Bench {
 public:
  Bench(const Program& program, const Machine& machine) : program_(program), gpu_(machine) {
    for (int b = 0; b < kBufferCount; ++b) {
      const auto id =
          gpu_.memory().allocate(kBufferNames[b], program.buffers[b].size(), 1, vgpu::Memory::Region::buffers);
      ROOFWALK_CHECK(id.ok());
      ids_[b] = *id;
      addresses[b] = gpu_.memory().buffer(*id).address;
    }
  }

  std::array<std::uint64_t, kBufferCount> addresses{};

  std::string load(const std::string& text) {
    auto module = ptx::parse(text, "random.cu");
    if (!module) return module.error().text();
    note_unused(*module);
    const Status loaded = gpu_.load(std::move(*module), "random.cu", "random.cu");
    return loaded ? "" : loaded.error().text();
  }

  // Lines of instructions whose results nothing uses. Their FLOPs do not count; tests/unit/vgpu/program/uses_test.cpp
  // tells by hand which these are.
  std::set<int> unused_lines;

  MachineRun run(const Way& way) {
    MachineRun out;
    for (int b = 0; b < kBufferCount; ++b) {
      std::copy(program_.buffers[b].begin(), program_.buffers[b].end(), gpu_.memory().buffer(ids_[b]).data);
    }
    std::vector<std::uint8_t> arguments(8 * kBufferCount);
    std::memcpy(arguments.data(), addresses.data(), arguments.size());
    vgpu::RunLimits limits{.work = 50'000'000, .seconds = 60};
    limits.threads = way.threads;
    limits.sanitize = way.sanitize;
    limits.lockstep = way.lockstep;
    limits.counts = way.counts;
    if (!way.traced) limits.traces.instructions = 0;
    gpu_.begin_plan(limits);
    vgpu::KernelCall call;
    call.kernel = "random";
    call.grid = {program_.grid.x, program_.grid.y, program_.grid.z};
    call.block = {program_.block.x, program_.block.y, program_.block.z};
    call.arguments = arguments;
    call.registers_per_thread = 32;
    const auto launched = gpu_.launch(call);
    if (!launched) {
      out.refused = launched.error().text();
      return out;
    }
    out.record = gpu_.end_plan();
    for (int b = 0; b < kBufferCount; ++b) {
      const vgpu::Buffer& buffer = gpu_.memory().buffer(ids_[b]);
      out.buffers[b].assign(buffer.data, buffer.data + buffer.size_bytes);
    }
    return out;
  }

 private:
  void note_unused(const ptx::Module& module) {
    for (const ptx::Function& function : module.functions) {
      if (function.name != "random") continue;
      const auto code = vgpu::code_of(module, function);
      for (std::size_t pc = 0; code && pc < code->has_use.size(); ++pc) {
        if (!code->has_use[pc]) unused_lines.insert(module.line_in(code->function->instructions[pc], "random.cu"));
      }
    }
  }

  const Program& program_;
  vgpu::Gpu gpu_;
  std::array<int, kBufferCount> ids_{};
};

std::string differing_bytes(const Program& program, const ReferenceRun& reference, const MachineRun& machine) {
  for (int b = 0; b < kBufferCount; ++b) {
    if (b == kApproximations) continue;
    const auto& expected = reference.buffers[b];
    const auto [e, f] = std::mismatch(expected.begin(), expected.end(), machine.buffers[b].begin());
    if (e == expected.end()) continue;
    const auto at = static_cast<std::size_t>(e - expected.begin());
    const std::size_t word = at / 8 * 8;
    std::uint64_t wanted = 0, found = 0;
    std::memcpy(&wanted, &expected[word], 8);
    std::memcpy(&found, &machine.buffers[b][word], 8);
    std::string where;
    if (b == kBlocked) where = fmt::format(" (thread {} of the grid)", at / kBlockedBytes);
    if (b == kSpread) {
      const std::size_t slot = at / kSpreadBytes;
      const auto threads = static_cast<std::size_t>(program.threads());
      where = fmt::format(" (slot {}, thread {} of the grid)", slot / threads, slot % threads);
    }
    return fmt::format("memory: byte {} of `{}`{}: {:#018x}, not {:#018x}", at, kBufferNames[b], where, found, wanted);
  }
  for (const auto& approximated : reference.approximated) {
    std::uint64_t found = 0;
    const auto bytes = static_cast<std::size_t>(bits_of(approximated.form->results[0]) / 8);
    std::memcpy(&found, &machine.buffers[kApproximations][approximated.offset], bytes);
    if (!approximated.form->accepts(approximated.sources.data(), found)) {
      return fmt::format("approximation: {} of {:#x}, {:#x} gives {:#x}, further off than the ISA grants",
                         approximated.form->text, approximated.sources[0], approximated.sources[1], found);
    }
  }
  return {};
}

std::string differing_counts(const Program& program, const Code& code, const ReferenceRun& reference,
                             const std::set<int>& unused_lines, const RunRecord& record) {
  std::vector<const Counters*> of_line(code.lines.size());
  for (const LineCounters& line : record.kernels.at(0).lines) {
    if (line.line >= 1) of_line.at(static_cast<std::size_t>(line.line) - 1) = &line.counters;
  }
  for (std::size_t i = 0; i < code.lines.size(); ++i) {
    if (!code.lines[i].in_text() || code.lines[i].code.repeats) continue;
    LineCounts expected = reference.counts[i];
    if (unused_lines.contains(static_cast<int>(i) + 1)) {
      for (std::uint64_t* flops :
           {&expected.flops_f16, &expected.flops_f32, &expected.flops_f64, &expected.flops_tensor,
            &expected.tensor_integer_operations, &expected.special_functions})
        *flops = 0;
    }
    const auto check = [&](const char* name, Counter counter, std::uint64_t wanted) {
      if (!record.counters[counter]) return std::string();  // not counted
      const std::uint64_t found = of_line[i] == nullptr ? 0 : of_line[i]->operator[](counter).value_or(0);
      if (found == wanted) return std::string();
      return fmt::format("counter: {} of line {}, `{}`: {}, not {}", name, i + 1, code.lines[i].code.text, found,
                         wanted);
    };
    std::string out;
#define ROOFWALK_CHECK_COUNTER(name) \
  if (out.empty()) out = check(#name, Counter::name, expected.name)
    ROOFWALK_CHECK_COUNTER(thread_instructions);
    ROOFWALK_CHECK_COUNTER(flops_f16);
    ROOFWALK_CHECK_COUNTER(flops_f32);
    ROOFWALK_CHECK_COUNTER(flops_f64);
    ROOFWALK_CHECK_COUNTER(flops_tensor);
    ROOFWALK_CHECK_COUNTER(tensor_integer_operations);
    ROOFWALK_CHECK_COUNTER(special_functions);
    ROOFWALK_CHECK_COUNTER(atomic_flops);
    ROOFWALK_CHECK_COUNTER(shared_bytes);
    if (program.counts_warps) {
      ROOFWALK_CHECK_COUNTER(warp_instructions);
      ROOFWALK_CHECK_COUNTER(branches);
      ROOFWALK_CHECK_COUNTER(divergent_branches);
      ROOFWALK_CHECK_COUNTER(barriers);
      ROOFWALK_CHECK_COUNTER(global_load_requests);
      ROOFWALK_CHECK_COUNTER(global_store_requests);
      ROOFWALK_CHECK_COUNTER(atomic_requests);
      ROOFWALK_CHECK_COUNTER(atomic_operations);
      ROOFWALK_CHECK_COUNTER(l1_read_sectors);
      ROOFWALK_CHECK_COUNTER(l1_write_sectors);
      ROOFWALK_CHECK_COUNTER(l1_ideal_sectors);
      ROOFWALK_CHECK_COUNTER(l1_uncoalesced_sectors);
      ROOFWALK_CHECK_COUNTER(l1_uncoalesced_ideal_sectors);
      ROOFWALK_CHECK_COUNTER(l1_lines);
      ROOFWALK_CHECK_COUNTER(local_sectors);
      ROOFWALK_CHECK_COUNTER(local_write_sectors);
      ROOFWALK_CHECK_COUNTER(shared_load_requests);
      ROOFWALK_CHECK_COUNTER(shared_store_requests);
      ROOFWALK_CHECK_COUNTER(shared_wavefronts);
      ROOFWALK_CHECK_COUNTER(shared_bank_conflicts);
      ROOFWALK_CHECK_COUNTER(constant_requests);
      ROOFWALK_CHECK_COUNTER(constant_passes);
      ROOFWALK_CHECK_COUNTER(constant_bytes);
    }
#undef ROOFWALK_CHECK_COUNTER
    if (!out.empty()) return out;
  }
  return {};
}

std::string differing_records(const RunRecord& a, const RunRecord& b, const char* how) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (!is_of_lines(counter)) continue;  // cycles, which need traces
    if (!b.counters[counter] || a.counters[counter] == b.counters[counter]) continue;
    return fmt::format("counter: {} is {} {}, else {}", counter_name(counter), *b.counters[counter], how,
                       *a.counters[counter]);
  }
  return {};
}

}  // namespace

Machine small_machine() {
  auto machine = load_machine("classroom");
  ROOFWALK_CHECK(machine.ok());
  machine->sms = 3;
  machine->l1_bytes = 4096;
  machine->l2_bytes = 16384;
  return std::move(*machine);
}

Verdict compare(const Program& program, const Machine& machine) {
  using What = Verdict::What;
  const Code code = flatten(program);
  Bench bench(program, machine);
  const ReferenceRun reference = run_reference(program, code, bench.addresses);
  const auto verdict = [&](What what, std::string words) {
    return Verdict{what, std::move(words), reference.thread_instructions};
  };
  if (!reference.invalid.empty()) return verdict(What::invalid, reference.invalid);
  if (std::string refusal = bench.load(text_of(program, code)); !refusal.empty())
    return verdict(What::refused, refusal);
  // If memory is not counted, warps that sleep take turns in another order, and some end their turns in front of an
  // atomic by chance. So the number of polls differs.
  const std::string text = text_of(program, code);
  const bool turns_differ = std::ranges::any_of(std::array{"nanosleep", "mbarrier.test_wait", "mbarrier.try_wait"},
                                                [&](const char* word) { return text.find(word) != std::string::npos; });
  RunRecord first;
  for (const Way& way : kWays) {
    const MachineRun run = bench.run(way);
    if (!run.refused.empty()) return verdict(What::refused, run.refused);
    if (run.record.fault) {
      return verdict(What::differs,
                     fmt::format("fault: {}, line {}, {}", run.record.fault->message, run.record.fault->line, way.how));
    }
    std::string words = differing_bytes(program, reference, run);
    if (words.empty()) words = differing_counts(program, code, reference, bench.unused_lines, run.record);
    if (words.empty() && &way != kWays && (way.counts || !turns_differ))
      words = differing_records(first, run.record, way.how);
    if (!words.empty()) return verdict(What::differs, words + ", " + way.how);
    if (&way == kWays) first = run.record;
  }
  return verdict(What::same, {});
}

namespace {

bool takes(const Machine& machine, Instruction instruction) {
  Program program;
  program.shared_bytes = program.local_bytes = 16;
  program.constants.resize(16);
  for (auto& buffer : program.buffers) buffer.resize(16);
  std::fill(std::begin(program.registers), std::end(program.registers), 8);
  Statement statement;
  statement.code = std::move(instruction);
  program.statements.push_back(std::move(statement));
  Bench bench(program, machine);
  return bench.load(text_of(program, flatten(program))).empty() && bench.run(kWays[0]).refused.empty();
}

Instruction sample_of(const Form& form) {
  Instruction out{.what = Do::form, .text = form.text, .form = &form};
  for (std::size_t i = 0; i < form.results.size(); ++i) {
    out.results.push_back(of({form.results[i], static_cast<int>(i)}));
  }
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    const Operand reg = of({form.sources[i], static_cast<int>(i)});
    out.sources.push_back(static_cast<int>(i) == form.only_number ? number(1, "u32") : reg);
  }
  return out;
}

}  // namespace

FormChoice accepted(std::vector<Form> forms, const Machine& machine) {
  std::erase_if(forms, [&](const Form& form) { return !takes(machine, sample_of(form)); });
  std::set<std::string> features;
  for (const auto& [name, probe] : feature_probes()) {
    if (takes(machine, probe)) features.insert(name);
  }
  return {std::move(forms), std::move(features)};
}

// Tries to remove runs of statements, first long and then shorter ones, to replace choices and loops by their bodies,
// and to replace sources by numbers. Keeps each change after which the program still differs in the same way.
Program minimized(Program program, const Machine& machine, int attempts) {
  const auto kind = [](const Verdict& verdict) { return verdict.words.substr(0, verdict.words.find(' ')); };
  const std::string wanted = kind(compare(program, machine));
  const auto still_differs = [&](const Program& candidate) {
    if (attempts <= 0) return false;
    --attempts;
    const Verdict verdict = compare(candidate, machine);
    return verdict.what == Verdict::What::differs && kind(verdict) == wanted;
  };
  // If the difference is a fault, groups stay whole: splitting one, such as a copy and its wait, causes a fault of its
  // own.
  const bool within_groups = wanted != "fault:";
  const auto ids = [&] { return ids_of(program, within_groups); };
  const auto keep = [&](std::optional<Program> candidate) {
    if (!candidate || !still_differs(*candidate)) return false;
    program = std::move(*candidate);
    return true;
  };
  for (bool smaller = true; smaller && attempts > 0;) {
    smaller = false;
    for (std::size_t run = std::max<std::size_t>(ids().size() / 2, 1); run > 0; run /= 2) {
      for (std::size_t from = 0; from < ids().size();) {
        const std::vector<int> all = ids();
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
        const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(from + run, all.size()));
        if (keep(without(program, {first, last})))
          smaller = true;
        else
          from += run;
      }
    }
    for (const int id : ids()) {
      Program candidate = unwrapped(program, {id});
      if (instruction_count(candidate) < instruction_count(program)) smaller = keep(std::move(candidate)) || smaller;
    }
    for (const int id : ids()) {
      for (std::size_t source = 0; source < 4; ++source) smaller = keep(with_number(program, id, source)) || smaller;
    }
  }
  return program;
}

std::string report(const Program& program, const Machine& machine) {
  const Verdict verdict = compare(program, machine);
  return fmt::format(
      "seed {}: {}\ngrid {} x {} x {}, block {} x {} x {}, {} instructions left:\n\n{}\n"
      "again: random_programs --seed {} --count 1\n",
      program.seed, verdict.words, program.grid.x, program.grid.y, program.grid.z, program.block.x, program.block.y,
      program.block.z, instruction_count(program), text_of(program, flatten(program)), program.seed);
}

}  // namespace roofwalk::random
