#include "common/cudart/module_code.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/hash.h"
#include "common/build/compile_folder.h"
#include "common/build/cubin.h"
#include "common/build/kernel_cache.h"
#include "common/build/ptx_lines.h"
#include "common/build/run_tool.h"
#include "common/device/virtual/code_hash.h"

namespace roofwalk::cudart {
namespace {

// Programs are their users' own and may have templates by the thousand.
constexpr std::size_t kMostModuleBytes = 256u << 20, kMostTokens = 100'000'000, kMostInstructions = 20'000'000,
                      kMostSymbols = 2'000'000, kMostRegisters = 50'000'000, kMostCubinBytes = 1u << 30;

// Code that no other module has to complete is assembled as a GPU runs it; otherwise as code that can be linked.
Result<std::vector<KernelResources>> assembled(const Toolkit& toolkit, const std::filesystem::path& folder,
                                               const std::string& chip, const std::string& text) {
  std::string trouble;
  for (const bool relocatable : {false, true}) {
    std::vector<std::string> arguments{"ptxas", "-arch=" + chip};
    if (relocatable) arguments.emplace_back("-c");
    arguments.emplace_back("kernel.ptx");
    ROOFWALK_TRY(const ToolOutcome outcome, run_tool(toolkit, folder,
                                                     {.arguments = std::move(arguments),
                                                      .files = {{"kernel.ptx", text}},
                                                      .makes = "kernel.cubin",
                                                      .max_made_bytes = kMostCubinBytes,
                                                      .timeout_s = kCompilerWallSeconds}));
    if (outcome.run.exit_code == 0 && outcome.made) return read_cubin(*outcome.made);
    if (trouble.empty()) trouble = outcome.run.output.substr(0, outcome.run.output.find('\n'));
    if (outcome.run.timed_out) break;
  }
  return Error{.message = fmt::format("ptxas does not take the program's PTX for {}: {}", chip, trouble)};
}

Result<std::vector<KernelResources>> resources_of(const Toolkit& toolkit, const std::string& chip,
                                                  const std::filesystem::path& cache, const std::string& text) {
  const std::string key = sha256_hex("roofwalk.program/1\n" + toolkit.version + "\n" + chip + "\n" + text);
  if (auto known = load_compiled(cache, key)) return std::move(known->kernels);
  ROOFWALK_TRY(const CompileFolder folder, CompileFolder::open(key.substr(0, 32)));
  if (auto known = load_compiled(cache, key)) return std::move(known->kernels);
  ROOFWALK_TRY(std::vector<KernelResources> kernels, assembled(toolkit, folder.path(), chip, text));
  save_compiled(cache, key, {text, kernels});
  return kernels;
}

}  // namespace

Result<ModuleCode> load_module_code(const Toolkit& toolkit, const Machine& machine, const std::filesystem::path& cache,
                                    std::string_view text) {
  ModuleCode code;
  const std::string lines = one_instruction_a_line(text);
  ptx::Limits limits;
  limits.text_bytes = kMostModuleBytes;
  limits.tokens = kMostTokens;
  limits.instructions = kMostInstructions;
  limits.symbols = kMostSymbols;
  limits.registers = kMostRegisters;
  ROOFWALK_TRY(code.module, ptx::parse(lines, "", limits));
  const std::string chip = "sm_" + machine.arch.substr(machine.arch.find('_') + 1);
  ROOFWALK_TRY(code.resources, resources_of(toolkit, chip, cache, lines));
  for (const KernelResources& kernel : code.resources) {
    std::vector<vgpu::MachineOp>& own = code.code[kernel.name];
    for (const MachineInstruction& in : kernel.code)
      own.push_back({in.ptx_line, in.operation, in.target, in.register_reads, in.shared_bytes});
  }
  code.hash = hash_of_code(lines);
  return code;
}

std::string source_of(const ptx::Module& module, const ptx::Function& kernel) {
  std::map<int, std::size_t> counts;  // by number of the file
  for (const ptx::Instruction& in : kernel.instructions) {
    if (in.location < 0) continue;
    const auto& frames = module.locations[static_cast<std::size_t>(in.location)];
    if (!frames.empty() && frames.back().file >= 0) ++counts[frames.back().file];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::string() : module.files[static_cast<std::size_t>(most->first)];
}

}  // namespace roofwalk::cudart
