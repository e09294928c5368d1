#include "common/build/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <map>

#include "common/base/hash.h"
#include "common/build/assemble.h"
#include "common/build/compile_folder.h"
#include "common/build/cubin.h"
#include "common/build/diagnostics.h"
#include "common/build/files.h"
#include "common/build/kernel_cache.h"
#include "common/build/ptx_cut.h"
#include "common/build/ptx_lines.h"
#include "common/build/run_tool.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanEntry = "solve";
constexpr std::size_t kMaxSourceBytes = 1 << 20;
constexpr std::size_t kMaxHeaderBytes = 1 << 20;
constexpr std::size_t kMaxPtxBytes = 4 << 20;  // ptxas would need minutes for more; a chapter's own PTX is 1 to 16 KB
// CUDA's limit for shared memory that a kernel declares, on every chip.
constexpr int kMaxStaticSharedBytes = 48 << 10;

using Headers = std::map<std::string, std::string>;  // name, text

Error unusable(const BuildRequest& request, std::string message, std::string advice = {}) {
  return {.message = std::move(message), .file = request.source.string(), .advice = std::move(advice)};
}

// Whether the text is UTF-16: it starts with a byte order mark; or at least a quarter of its bytes are zero, all of
// them at even or all at odd offsets.
bool is_utf16(const std::string& text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return true;
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < text.size(); ++i) zeros[i % 2] += text[i] == '\0' ? 1 : 0;
  const std::size_t most = std::max(zeros[0], zeros[1]), least = std::min(zeros[0], zeros[1]);
  return least == 0 && 4 * most >= text.size() && most > 0;
}

Result<std::string> read_source(const BuildRequest& request) {
  std::error_code error;
  const fs::file_status status = fs::status(request.source, error);
  if (!fs::exists(status)) return unusable(request, "there is no such file");
  if (!fs::is_regular_file(status)) return unusable(request, "this is not a file");
  if (const auto size = fs::file_size(request.source, error); !error && size > kMaxSourceBytes) {
    return unusable(request,
                    fmt::format("the file has {} bytes; a kernel file may have at most {}", size, kMaxSourceBytes));
  }
  auto text = read_file(request.source, kMaxSourceBytes);
  if (!text) return unusable(request, "the file cannot be read");
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return unusable(request, "the file is empty",
                    "write a kernel and SOLVE(...), or start again with `roofwalk reset`");
  }
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && std::string_view("\t\n\r\f\v").find(c) == std::string_view::npos;
  };
  if (is_utf16(*text)) return unusable(request, "the file is saved as UTF-16", "save it as UTF-8");
  if (std::any_of(text->begin(), text->end(), is_control)) {
    return unusable(request, "the file is not text", "save it as UTF-8 source code");
  }
  if (text->find("SOLVE") == std::string::npos && text->find(kPlanEntry) == std::string::npos) {
    return unusable(request, "the file holds no SOLVE(...), so it is not a kernel file",
                    "define it as the chapter's starter does");
  }
  return *std::move(text);
}

Result<Headers> read_headers(const BuildRequest& request) {
  Headers headers;
  std::error_code error;
  for (const fs::path& folder : {request.include, request.headers}) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cuh" && extension != ".h") continue;
      auto text = read_file(entry.path(), kMaxHeaderBytes);
      if (!text) return Error{.message = fmt::format("the header {} cannot be read", entry.path().string())};
      headers[entry.path().filename()] = *std::move(text);
    }
  }
  if (headers.empty()) {
    return Error{.message = fmt::format("there is no header in {}", request.include.string())};
  }
  return headers;
}

// Returns a hash of everything on which the result depends. Each part is preceded by its length, so that two different
// lists of parts never join to the same text.
std::string cache_key(const Toolkit& toolkit, const BuildRequest& request, const std::string& source,
                      const Headers& headers) {
  std::string all;
  const auto add = [&all](std::string_view part) { all.append(std::to_string(part.size())).append(":").append(part); };
  add("roofwalk.compiled/10");
  if (toolkit.isolation == Isolation::boxed) add("boxed");  // never reuse what was compiled outside a box
  add(toolkit.version);
  add(request.arch);
  add(source);
  for (const auto& [name, text] : headers) {
    add(name);
    add(text);
  }
  return sha256_hex(all);
}

// SOLVE is host code to its author, who may write std::min or std::swap there. nvcc lets device code call such
// functions only if it is told to and if they are constexpr, as std::swap is in C++20. It is told where it refused one,
// so that all other files are compiled as anywhere.
constexpr const char* kRelaxedConstexpr = "--expt-relaxed-constexpr";

bool refused_library_function(const CommandResult& run) {
  const auto says = [&](const char* words) { return run.output.find(words) != std::string::npos; };
  return run.exit_code != 0 && !run.timed_out && (says(kRelaxedConstexpr) || says("std::swap<"));
}

Result<std::string> compile_to_ptx(const Toolkit& toolkit, const BuildRequest& request, const fs::path& folder,
                                   const std::string& source, const Headers& headers) {
  ToolJob job{.arguments = {"nvcc", "-ptx", "-rdc=true", "-lineinfo", "-arch=" + request.arch, "-I", "include"},
              .files = {{std::string(kSourceName), source}},
              .makes = "kernel.ptx",
              .max_made_bytes = kMaxPtxBytes,
              .timeout_s = request.timeout_s};
  // A kernel that depends on its compile time cannot be graded, so these macros expand to an undeclared name, which
  // causes an error. The compiler's own -Werror=date-time does not help: it does not warn in code that declares itself
  // a system header.
  job.arguments.insert(job.arguments.end(), {"-Xcompiler", "-Wno-builtin-macro-redefined"});
  for (const char* macro : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
    job.arguments.push_back(fmt::format("-D{}={}", macro, kTimeOfCompiling));
  }
  job.arguments.emplace_back(kSourceName);
  for (const auto& [name, text] : headers) job.files["include/" + name] = text;
  ROOFWALK_TRY(ToolOutcome outcome, run_tool(toolkit, folder, job));
  if (refused_library_function(outcome.run)) {
    job.arguments.insert(job.arguments.end(), {kRelaxedConstexpr, "-std=c++20"});
    ROOFWALK_TRY(outcome, run_tool(toolkit, folder, std::move(job)));
  }
  if (outcome.run.exit_code != 0) {
    return explain_nvcc(outcome.run, request.source.string(), source, request.timeout_s);
  }
  if (!outcome.made) {
    return unusable(request, fmt::format("the file compiles to more than {} MiB of PTX", kMaxPtxBytes >> 20),
                    "unroll less, and instantiate fewer templates");
  }
  return one_instruction_a_line(*outcome.made);
}

// Refuses names that are too long for records and messages.
Status check_names(const BuildRequest& request, std::string_view ptx) {
  constexpr std::size_t kMostLetters = 16'384;
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = static_cast<std::size_t>(
        std::find_if_not(ptx.begin() + static_cast<std::ptrdiff_t>(at), ptx.end(), is_letter) - ptx.begin());
    if (end - at > kMostLetters) {
      return unusable(
          request,
          fmt::format("a name in the file compiles to {} letters; it may have at most {}", end - at, kMostLetters),
          "shorten the name, or use fewer template arguments");
    }
    at = end + 1;
  }
  return kOk;
}

// Assembles PTX for the chip of the request ("sm_80" for "compute_80"). `relocatable`: as code that can be linked.
Result<ToolOutcome> run_ptxas(const Toolkit& toolkit, const BuildRequest& request, const fs::path& folder,
                              const std::string& ptx, bool relocatable) {
  std::vector<std::string> arguments{"ptxas", "-arch=sm_" + request.arch.substr(request.arch.find('_') + 1)};
  if (relocatable) arguments.emplace_back("-c");
  arguments.emplace_back("kernel.ptx");
  return run_tool(toolkit, folder,
                  {.arguments = std::move(arguments),
                   .files = {{"kernel.ptx", ptx}},
                   .makes = "kernel.cubin",
                   .max_made_bytes = kMaxCubinBytes,
                   .timeout_s = request.timeout_s});
}

// Returns the kernels' machine code as a GPU runs it. In code that can still be linked, ptxas does not know where
// shared memory begins, so it merges no accesses. But only such code can contain the plan entry, which calls functions
// that only the harness defines, and only it has a size if shared memory is too large. So if the kernels alone do not
// assemble, the whole file's relocatable code tells why, or stands in for them.
Result<std::vector<KernelResources>> assemble(const Toolkit& toolkit, const BuildRequest& request,
                                              const fs::path& folder, const std::string& ptx) {
  Artifact whole;
  whole.source_path = request.source.string();
  whole.ptx = ptx;
  if (const auto kernels = cut_plan(whole)) {
    ROOFWALK_TRY(const ToolOutcome outcome, run_ptxas(toolkit, request, folder, *kernels, /*relocatable=*/false));
    if (outcome.run.exit_code == 0 && outcome.made) return read_cubin(*outcome.made, request.source.string());
    // The whole file would take as long again.
    if (outcome.run.timed_out || outcome.run.exit_code == 128 + SIGXCPU)
      return explain_ptxas(outcome.run, request.source.string(), ptx, request.timeout_s);
  }
  ROOFWALK_TRY(const ToolOutcome outcome, run_ptxas(toolkit, request, folder, ptx, /*relocatable=*/true));
  if (outcome.run.exit_code != 0) {
    return explain_ptxas(outcome.run, request.source.string(), ptx, request.timeout_s);
  }
  if (!outcome.made) return unusable(request, "the file assembles to more machine code than is allowed");
  ROOFWALK_TRY(std::vector<KernelResources> kernels, read_cubin(*outcome.made, request.source.string()));
  std::erase_if(kernels, [](const KernelResources& kernel) { return kernel.name == kPlanEntry; });
  return kernels;
}

// Checks that there is a plan entry, and how much shared memory the kernels declare: ptxas does not check that in
// relocatable code.
Status check_kernels(const BuildRequest& request, const std::string& ptx, const std::vector<KernelResources>& kernels) {
  if (ptx.find(fmt::format(".entry {}(", kPlanEntry)) == std::string::npos) {
    return unusable(request, "the file defines no SOLVE(...)",
                    "end it with SOLVE(parameters) { kernel<<<grid, block>>>(arguments); }");
  }
  for (const KernelResources& kernel : kernels) {
    if (kernel.static_shared_bytes <= kMaxStaticSharedBytes) continue;
    return Error{.message = fmt::format("kernel {} declares {} bytes of shared memory; CUDA allows {} (48 KiB)",
                                        written_name(kernel.name), kernel.static_shared_bytes, kMaxStaticSharedBytes),
                 .file = request.source.string(),
                 .line = source_line_of_kernel(ptx, kernel.name),
                 .advice = "make the tile smaller, or use extern __shared__ and pass its size at the launch"};
  }
  return kOk;
}

Result<Compiled> compile(const Toolkit& toolkit, const BuildRequest& request, const std::string& source,
                         const Headers& headers, const std::string& key) {
  // The path is part of the PTX and should be short, so it contains only half of the hash.
  ROOFWALK_TRY(const CompileFolder compile_folder, CompileFolder::open(key.substr(0, 32), toolkit.isolation));
  // Another process may have compiled it while this one waited.
  if (auto done = load_compiled(request.cache, key)) return *std::move(done);
  Compiled compiled;
  ROOFWALK_TRY(compiled.ptx, compile_to_ptx(toolkit, request, compile_folder.path(), source, headers));
  ROOFWALK_TRY_STATUS(check_names(request, compiled.ptx));
  ROOFWALK_TRY(compiled.kernels, assemble(toolkit, request, compile_folder.path(), compiled.ptx));
  ROOFWALK_TRY_STATUS(check_kernels(request, compiled.ptx, compiled.kernels));
  save_compiled(request.cache, key, compiled);
  return compiled;
}

}  // namespace

Result<Artifact> build(const Toolkit& toolkit, const BuildRequest& request) {
  ROOFWALK_CHECK(request.arch.starts_with("compute_"));
  ROOFWALK_TRY(std::string source, read_source(request));
  ROOFWALK_TRY(const Headers headers, read_headers(request));
  const std::string key = cache_key(toolkit, request, source, headers);
  std::optional<Compiled> compiled = load_compiled(request.cache, key);
  if (!compiled) {
    ROOFWALK_TRY(compiled, compile(toolkit, request, source, headers, key));
  }
  return Artifact{.source_path = request.source.string(),
                  .source_name = std::string(kSourceName),
                  .source_text = source,
                  .source_sha256 = sha256_hex(source),
                  .arch = request.arch,
                  .ptx = std::move(compiled->ptx),
                  .kernels = std::move(compiled->kernels)};
}

}  // namespace roofwalk
