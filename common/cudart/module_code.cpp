#include "common/cudart/module_code.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/hash.h"
#include "common/build/compile_folder.h"
#include "common/build/cubin.h"
#include "common/build/kernel_cache.h"
#include "common/build/ptx_lines.h"
#include "common/build/run_tool.h"
#include "common/cudart/link_modules.h"
#include "common/device/virtual/code_hash.h"

namespace roofwalk::cudart {
namespace {

// Programs are their users' own and may have templates by the thousand.
constexpr std::size_t kMostModuleBytes = 256u << 20, kMostTokens = 100'000'000, kMostInstructions = 20'000'000,
                      kMostSymbols = 2'000'000, kMostRegisters = 50'000'000, kMostCubinBytes = 1u << 30;

int line_count(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1; }

Result<std::string> cubin_of(const Toolkit& toolkit, const std::filesystem::path& folder,
                             std::vector<std::string> arguments, std::map<std::string, std::string> files) {
  ROOFWALK_TRY(ToolOutcome outcome, run_tool(toolkit, folder,
                                             {.arguments = std::move(arguments),
                                              .files = std::move(files),
                                              .makes = "kernel.cubin",
                                              .max_made_bytes = kMostCubinBytes,
                                              .timeout_s = kCompilerWallSeconds}));
  if (outcome.run.exit_code == 0 && outcome.made) return *std::move(outcome.made);
  return Error{.message = outcome.run.output.substr(0, outcome.run.output.find('\n'))};
}

// Code that no other module has to complete is assembled as a GPU runs it; otherwise as code that can be linked.
Result<std::string> assembled(const Toolkit& toolkit, const std::filesystem::path& folder, const std::string& chip,
                              const std::string& text, bool is_part) {
  std::string trouble;
  for (const bool relocatable : {false, true}) {
    if (is_part && !relocatable) continue;
    std::vector<std::string> arguments{"ptxas", "-arch=" + chip};
    if (relocatable) arguments.emplace_back("-c");
    arguments.emplace_back("kernel.ptx");
    auto cubin = cubin_of(toolkit, folder, std::move(arguments), {{"kernel.ptx", text}});
    if (cubin) return cubin;
    if (trouble.empty()) trouble = cubin.error().message;
  }
  return Error{.message = fmt::format("ptxas does not take the program's PTX for {}: {}", chip, trouble)};
}

void shift_lines(std::vector<KernelResources>& kernels, int lines) {
  for (KernelResources& kernel : kernels) {
    for (MachineInstruction& in : kernel.code) in.ptx_line += in.ptx_line > 0 ? static_cast<std::uint32_t>(lines) : 0;
  }
}

// Assembles the parts and links them, for registers, stack and shared memory with all that a kernel calls. If they
// cannot be linked (they call what only NVIDIA's libraries have), each kernel has the figures of its own part.
Result<std::vector<KernelResources>> linked(const Toolkit& toolkit, const std::filesystem::path& folder,
                                            const std::string& chip, const std::vector<std::string>& texts) {
  std::map<std::string, std::string> cubins;
  std::vector<std::string> arguments{"nvlink", "-arch=" + chip};
  std::map<std::string, KernelResources> kernels;
  int lines = 0;
  for (const std::string& text : texts) {
    ROOFWALK_TRY(std::string cubin, assembled(toolkit, folder, chip, text, /*is_part=*/true));
    ROOFWALK_TRY(std::vector<KernelResources> own, read_cubin(cubin));
    shift_lines(own, lines);
    for (KernelResources& kernel : own) kernels.try_emplace(kernel.name, std::move(kernel));
    arguments.push_back(fmt::format("part{}.cubin", cubins.size()));
    cubins[arguments.back()] = std::move(cubin);
    lines += line_count(text);
  }
  if (const auto whole = cubin_of(toolkit, folder, std::move(arguments), std::move(cubins))) {
    ROOFWALK_TRY(const std::vector<KernelResources> figures, read_cubin(*whole));
    for (const KernelResources& each : figures) {
      const auto kernel = kernels.find(each.name);
      if (kernel == kernels.end()) continue;
      kernel->second.registers_per_thread = each.registers_per_thread;
      kernel->second.static_shared_bytes = each.static_shared_bytes;
      kernel->second.local_bytes_per_thread = each.local_bytes_per_thread;
    }
  }
  std::vector<KernelResources> all;
  for (auto& [name, kernel] : kernels) all.push_back(std::move(kernel));
  return all;
}

Result<std::vector<KernelResources>> resources_of(const Toolkit& toolkit, const std::string& chip,
                                                  const std::filesystem::path& cache,
                                                  const std::vector<std::string>& texts) {
  std::string all = "roofwalk.program/1\n" + toolkit.version + "\n" + chip + "\n";
  for (const std::string& text : texts) all += text;
  const std::string key = sha256_hex(all);
  if (auto known = load_compiled(cache, key)) return std::move(known->kernels);
  ROOFWALK_TRY(const CompileFolder folder, CompileFolder::open(key.substr(0, 32)));
  if (auto known = load_compiled(cache, key)) return std::move(known->kernels);
  std::vector<KernelResources> kernels;
  if (texts.size() > 1) {
    ROOFWALK_TRY(kernels, linked(toolkit, folder.path(), chip, texts));
  } else {
    ROOFWALK_TRY(const std::string cubin, assembled(toolkit, folder.path(), chip, texts.front(), /*is_part=*/false));
    ROOFWALK_TRY(kernels, read_cubin(cubin));
  }
  save_compiled(cache, key, {texts.front(), kernels});
  return kernels;
}

}  // namespace

Result<ModuleCode> load_module_code(const Toolkit& toolkit, const Machine& machine, const std::filesystem::path& cache,
                                    const std::vector<std::string>& texts) {
  ModuleCode code;
  ptx::Limits limits;
  limits.text_bytes = kMostModuleBytes;
  limits.tokens = kMostTokens;
  limits.instructions = kMostInstructions;
  limits.symbols = kMostSymbols;
  limits.registers = kMostRegisters;
  limits.grid_sync = true;
  std::vector<ptx::Module> modules;
  std::vector<std::string> parts;
  std::string all;
  int lines = 0;
  for (const std::string& text : texts) {
    parts.push_back(one_instruction_a_line(text));
    ROOFWALK_TRY(ptx::Module module, ptx::parse(parts.back(), "", limits));
    if (lines > 0) shift_lines(module, lines);
    lines += line_count(parts.back());
    modules.push_back(std::move(module));
    all += parts.back();
  }
  if (modules.size() > 1) {
    ROOFWALK_TRY(code.module, link_modules(std::move(modules)));
  } else {
    code.module = std::move(modules.front());
  }
  const std::string chip = "sm_" + machine.arch.substr(machine.arch.find('_') + 1);
  ROOFWALK_TRY(code.resources, resources_of(toolkit, chip, cache, parts));
  for (const KernelResources& kernel : code.resources) {
    std::vector<vgpu::MachineOp>& own = code.code[kernel.name];
    for (const MachineInstruction& in : kernel.code)
      own.push_back({in.ptx_line, in.operation, in.target, in.register_reads, in.shared_bytes});
  }
  code.hash = hash_of_code(all);
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
