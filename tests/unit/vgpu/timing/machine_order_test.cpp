// Compares schedules with ptxas' code for every chapter's starter and solution steps, and for kinds of kernels that
// chapters will need. The tests read the cubin with a reader of their own (tests/support/sass.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "common/base/subprocess.h"
#include "common/build/build.h"
#include "common/build/files.h"
#include "common/build/ptx_cut.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/timing/instruction_schedule.h"
#include "tests/support/sass.h"

namespace roofwalk::vgpu {
namespace {

namespace fs = std::filesystem;
using test::SassInstruction;
using test::SassLoop;

fs::path root() { return ROOFWALK_TEST_SOURCE_DIR; }

const Toolkit& toolkit() {
  static const auto found = find_toolkit(root());
  EXPECT_TRUE(found.ok()) << (found ? "" : found.error().text());
  return *found;
}

struct Compiled {
  Artifact artifact;
  ptx::Module module;
  std::map<std::string, std::vector<SassInstruction>> sass;
};

std::unique_ptr<Compiled> compiled(const fs::path& source, const std::string& chip) {
  const fs::path folder = fs::path(ROOFWALK_TEST_BINARY_DIR) / "test-kernels";
  fs::create_directories(folder);
  auto artifact = build(toolkit(), {.source = source,
                                    .arch = "compute_" + chip,
                                    .include = root() / "common/include",
                                    .cache = folder / "cache/artifacts"});
  EXPECT_TRUE(artifact.ok()) << (artifact ? "" : artifact.error().text());
  auto out = std::make_unique<Compiled>();
  out->artifact = std::move(*artifact);
  auto module = ptx::parse(out->artifact.ptx, out->artifact.source_name);
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  out->module = std::move(*module);
  const fs::path name = folder / ("order-" + std::to_string(getpid()));
  EXPECT_TRUE(write_file(name.string() + ".ptx", cut_plan(out->artifact).value()));
  const auto run = run_command({.arguments = {(toolkit().root / "bin/ptxas").string(), "-arch=sm_" + chip,
                                              name.string() + ".ptx", "-o", name.string() + ".cubin"},
                                .working_directory = folder});
  EXPECT_TRUE(run.ok() && run->exit_code == 0);
  out->sass = test::read_sass(read_file(name.string() + ".cubin", 64 << 20).value_or(""), chip != "80");
  fs::remove(name.string() + ".ptx");
  fs::remove(name.string() + ".cubin");
  return out;
}

Machine machine_of_orders() {
  Machine m;
  m.alu_latency_cycles = 4;
  m.fp64_latency_cycles = 5;
  m.special_latency_cycles = 18;
  m.shuffle_latency_cycles = 23;
  m.shared_latency_cycles = 23;
  return m;
}

struct Kernel {
  const KernelResources& resources;
  Program program;
  SharedAccesses accesses;
  ProgramSchedule schedule;
};

Kernel scheduled(const Compiled& from, const KernelResources& resources) {
  const ptx::Function* function = from.module.find_function(resources.name);
  static const std::vector<std::uint8_t> arguments(4096);
  auto program = lower({.module = &from.module,
                        .function = function,
                        .grid = {1, 1, 1},
                        .block = {32, 1, 1},
                        .dynamic_shared_bytes = 0,
                        .arguments = std::span(arguments).first(parameter_layout(*function).size_bytes),
                        .address_of = [](const std::string&) { return std::uint64_t{0}; }});
  EXPECT_TRUE(program.ok()) << (program ? "" : program.error().text());
  std::vector<MachineOp> code;
  for (const MachineInstruction& in : resources.code)
    code.push_back({in.ptx_line, in.operation, in.target, in.register_reads, in.shared_bytes});
  Kernel out{resources, std::move(*program), {}, {}};
  out.accesses = find_shared_accesses(*out.program.function, out.program.blocks, code);
  out.program.shared_accesses = out.accesses.of;
  out.schedule = schedule(machine_of_orders(), out.program, code);
  return out;
}

bool reads_result_of(const Schedule& s, const TimedOp& op, const std::set<std::uint16_t>& slots) {
  for (std::uint32_t i = 0; i < op.source_count; ++i) {
    if (slots.contains(s.operands[op.first_operand + op.result_count + i])) return true;
  }
  return false;
}

int loads_before_use(const Schedule& s) {
  std::set<std::uint16_t> loaded;
  int loads = 0;
  for (const TimedOp& op : s.ops) {
    if (reads_result_of(s, op, loaded)) return loads;
    for (std::uint32_t i = 0; i < op.result_count; ++i) {
      const std::uint16_t slot = s.operands[op.first_operand + i];
      if (op.kind == TimedKind::load)
        loaded.insert(slot);
      else
        loaded.erase(slot);
    }
    loads += op.kind == TimedKind::load;
  }
  return loads;
}

int issues(const Schedule& s) {
  int sum = 0;
  for (const TimedOp& op : s.ops) sum += op.issues;
  return sum;
}

// Returns the basic blocks of the PTX loop whose branch is on this line.
std::vector<std::size_t> loop_at(const Program& program, int line) {
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const BasicBlock& block = program.blocks[b];
    if (block.count == 0 || program.function->instructions[block.first + block.count - 1].ptx_line != line) continue;
    std::vector<std::size_t> out;
    for (std::size_t in = block.successors[0]; in <= b; ++in) out.push_back(in);
    return out;
  }
  return {};
}

std::vector<fs::path> sources() {
  std::vector<fs::path> out;
  for (const char* folder : {"chapters", "solutions", "tests/unit/vgpu/kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
      // A library's kernels are as many as those of all chapters together.
      const bool is_library = entry.path().filename() == "library.cu";
      if (entry.path().extension() == ".cu" && !is_library) out.push_back(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

class MachineOrder : public testing::TestWithParam<std::tuple<fs::path, std::string>> {};

// Every loop without inner branches in SASS must have a schedule of the same length, with as many loads before the
// first use of a loaded value, even if the loop has several basic blocks in PTX (ptxas removed the branches). If only
// some of these blocks are merged, their schedules together must have about that length.
TEST_P(MachineOrder, StraightLoopsAreAsInTheCubin) {
  const auto from = compiled(std::get<0>(GetParam()), std::get<1>(GetParam()));
  for (const KernelResources& resources : from->artifact.kernels) {
    const Kernel kernel = scheduled(*from, resources);
    const auto& code = from->sass.at(resources.name);
    ASSERT_FALSE(resources.code.empty());
    for (const SassLoop& loop : test::straight_loops(code)) {
      const auto line = static_cast<int>(resources.code[loop.last].ptx_line);
      const int wanted = static_cast<int>(loop.last - loop.first + 1), loads = test::loads_before_use(code, loop);
      std::ostringstream table;
      table << resources.name << ", SASS " << loop.first << " to " << loop.last << ", PTX line " << line
            << "\n  of         instructions  loads before use\n  cubin      " << wanted << "  " << loads << "\n";
      const std::vector<std::size_t> blocks = loop_at(kernel.program, line);
      ASSERT_FALSE(blocks.empty()) << table.str();
      bool same = false;
      if (kernel.schedule.blocks[blocks[0]].front().members == blocks.size()) {
        for (const Schedule& s : kernel.schedule.blocks[blocks[0]]) {
          if (s.members != blocks.size()) continue;
          table << "  " << s.copies << " copies   " << issues(s) << "  " << loads_before_use(s) << "\n";
          same = same || (issues(s) == wanted && loads_before_use(s) == loads);
        }
      } else {
        int sum = 0;
        for (std::size_t b = blocks.front(); b <= blocks.back(); b += kernel.schedule.blocks[b].front().members)
          sum += issues(kernel.schedule.blocks[b].front());
        table << "  " << blocks.size() << " blocks   " << sum << "\n";
        same = std::abs(sum - wanted) <= std::max(2, wanted / 10);
      }
      EXPECT_TRUE(same) << table.str();
    }
  }
}

// ptxas unrolls a loop of one load each, peels the first iterations off and loads several words at a time that belong
// to two iterations, which the machine does not follow (DEVIATIONS 1).
bool has_peeled_loads(const fs::path& source, const std::string& kernel, const std::string& target) {
  if (target != "80" || source.parent_path().filename() != "11-scan") return false;
  return kernel.starts_with("_Z9scan_sums") || source.filename() == "step4_thirty_two_values_a_thread.cu";
}

// Each machine access of shared memory, as this test's own reader decodes it, must stand for PTX accesses of as many
// bytes in all. Word by word and merged accesses together must be all accesses of the PTX.
TEST_P(MachineOrder, SharedAccessesAreAsInTheCubin) {
  const auto from = compiled(std::get<0>(GetParam()), std::get<1>(GetParam()));
  for (const KernelResources& resources : from->artifact.kernels) {
    SCOPED_TRACE(resources.name);
    const Kernel kernel = scheduled(*from, resources);
    if (has_peeled_loads(std::get<0>(GetParam()), resources.name, std::get<1>(GetParam()))) {
      EXPECT_FALSE(kernel.accesses.found_all);
      continue;
    }
    EXPECT_TRUE(kernel.accesses.found_all);
    const auto& code = from->sass.at(resources.name);
    std::map<int, std::set<std::size_t>> in_cubin, found;  // by PTX line: bytes a lane of its machine accesses
    for (std::size_t i = 0; i < resources.code.size() && i < code.size(); ++i) {
      constexpr unsigned kLoad = 0x184, kStore = 0x188;
      const bool load = code[i].operation == kLoad, store = code[i].operation == kStore;
      if (load) in_cubin[static_cast<int>(resources.code[i].ptx_line)].insert(4 * code[i].results.size());
      // Zeros are stored from RZ, which is no source: their width is that of the instruction.
      const bool stores_zeros = store && code[i].sources.size() == 1;
      const std::size_t stored = stores_zeros ? resources.code[i].shared_bytes : 4 * (code[i].sources.size() - 1);
      if (store) in_cubin[static_cast<int>(resources.code[i].ptx_line)].insert(stored);
    }
    // By PTX instruction with a merged access: bytes of its parts, and where they begin and end in it.
    struct Covered {
      std::size_t bytes = 0, begin = 16, end = 0;
    };
    std::map<std::uint32_t, Covered> covered;
    const auto& ptx = kernel.program.function->instructions;
    for (std::uint32_t pc = 0; pc < ptx.size(); ++pc) {
      const ptx::Form form = ptx::info(ptx[pc].opcode).form;
      if (form == ptx::Form::async_copy) in_cubin.erase(ptx[pc].ptx_line);  // its zeros beyond the source are an STS
      if (ptx[pc].space != ptx::Space::shared || (form != ptx::Form::load && form != ptx::Form::store)) continue;
      const SharedAccess& access = kernel.accesses.of[pc];
      const auto own = static_cast<std::size_t>(ptx::size_bytes(ptx[pc].type)) * ptx[pc].vector;
      if (access.bytes != 0) {
        Covered& all = covered[access.is_merged() ? access.merged_into : pc];
        all.bytes += own;
        all.begin = std::min<std::size_t>(all.begin, access.before);
        all.end = std::max<std::size_t>(all.end, access.before + own);
      }
      if (!access.is_merged()) found[ptx[pc].ptx_line].insert(access.bytes != 0 ? access.bytes : own);
    }
    EXPECT_EQ(found, in_cubin);
    for (const auto& [pc, all] : covered) {
      // A load may begin or end with words that the PTX does not ask for.
      const bool is_load = ptx::info(ptx[pc].opcode).form == ptx::Form::load;
      EXPECT_EQ(all.bytes, all.end - all.begin) << ptx[pc].ptx_line;
      EXPECT_LE(all.end, kernel.accesses.of[pc].bytes) << ptx[pc].ptx_line;
      EXPECT_TRUE(is_load || all.bytes == kernel.accesses.of[pc].bytes) << ptx[pc].ptx_line;
    }
  }
}

// The same unrolled loop twice: loads may pass stores only if the pointers are __restrict__.
TEST(MachineOrderOfAliases, RestrictChangesTheOrderOfLoads) {
  const auto from = compiled(root() / "tests/unit/vgpu/kernels/aliases.cu", "80");
  std::map<std::string, int> loads;
  for (const KernelResources& resources : from->artifact.kernels) {
    const Kernel kernel = scheduled(*from, resources);
    for (const auto& forms : kernel.schedule.blocks)
      loads[resources.name] = std::max(loads[resources.name], loads_before_use(forms.front()));
  }
  EXPECT_EQ(loads.at("_Z5plainPKfS0_Pfi"), 2);
  EXPECT_EQ(loads.at("_Z10restrictedPKfS0_Pfi"), 8);
  EXPECT_EQ(loads.at("_Z12stream_plainPKfPfi"), 1);
  EXPECT_EQ(loads.at("_Z15stream_restrictPKfPfi"), 4);
}

// If ptxas turned guards into predicates, basic blocks are merged, and their loads precede the first use of a loaded
// value.
TEST(MachineOrderOfGuards, GuardedLoadsGoTogether) {
  for (const char* chip : {"80", "90a"}) {
    const auto from = compiled(root() / "tests/unit/vgpu/kernels/guards.cu", chip);
    std::map<std::string, std::pair<std::uint32_t, int>> most;  // merged blocks; loads before the first use
    for (const KernelResources& resources : from->artifact.kernels) {
      const Kernel kernel = scheduled(*from, resources);
      for (const auto& forms : kernel.schedule.blocks) {
        const Schedule& first = forms.front();
        most[resources.name] = std::max(most[resources.name], {first.members, loads_before_use(first)});
      }
    }
    EXPECT_EQ(most.at("_Z4tilePKfPfii"), std::pair(9u, 4)) << chip;
    EXPECT_EQ(most.at("_Z6nestedPKfPfii"), std::pair(9u, 4)) << chip;
    EXPECT_EQ(most.at("_Z6maskedPKfPKiPfi").first, 9u) << chip;
    EXPECT_EQ(most.at("_Z6eitherPKfS0_PKiPfi").first, 13u) << chip;
    EXPECT_EQ(most.at("_Z6any_ofPKfPfii"), std::pair(9u, 4)) << chip;
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<fs::path, std::string>>& test) {
  const fs::path path = std::get<0>(test.param).lexically_relative(root());
  std::string name = (path.parent_path() / path.stem()).string();  // solutions_01_vector_add_step1_fill_the_machine
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name + "_" + std::get<1>(test.param);
}

INSTANTIATE_TEST_SUITE_P(Kernels, MachineOrder,
                         testing::Combine(testing::ValuesIn(sources()), testing::Values("80", "90a")), name_of);

}  // namespace
}  // namespace roofwalk::vgpu
