#include "common/build/kernel_cache.h"

#include <fmt/format.h>

#include <charconv>

#include "common/base/atomic_file.h"
#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/build/files.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "roofwalk.compiled/6";
constexpr std::size_t kMaxFileBytes = 16 << 20;

// Writes machine code as text: the members of each instruction, with a space after each number. The parser stops at any
// other character.
std::string write_code(const std::vector<MachineInstruction>& code) {
  std::string out;
  for (const MachineInstruction& in : code)
    out += fmt::format("{} {} {} {} {} {} ", in.ptx_line, in.operation, in.target, in.register_reads, in.shared_bytes,
                       in.counts_lanes ? 1 : 0);
  return out;
}

std::vector<MachineInstruction> parse_code(const std::string& text) {
  std::vector<MachineInstruction> code;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto read = [&](auto& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || next == end) return false;
    at = next + 1;
    return true;
  };
  int counts_lanes = 0;
  for (MachineInstruction in; read(in.ptx_line) && read(in.operation) && read(in.target) && read(in.register_reads) &&
                              read(in.shared_bytes) && read(counts_lanes);) {
    in.counts_lanes = counts_lanes != 0;
    code.push_back(in);
  }
  return code;
}

std::optional<Compiled> parse(const std::string& text, std::string ptx) {
  const Json json = parse_json(text);
  if (!json.is_object() || json.value("schema", "") != kSchema) return std::nullopt;
  if (json.value("ptx_sha256", "") != sha256_hex(ptx)) return std::nullopt;
  Compiled compiled{.ptx = std::move(ptx), .kernels = {}};
  for (const Json& kernel : json.at("kernels")) {
    compiled.kernels.push_back({.name = kernel.at("name").get<std::string>(),
                                .registers_per_thread = kernel.at("registers_per_thread").get<int>(),
                                .static_shared_bytes = kernel.at("static_shared_bytes").get<int>(),
                                .local_bytes_per_thread = kernel.at("local_bytes_per_thread").get<int>(),
                                .code = parse_code(kernel.at("code").text())});
  }
  return compiled;
}

}  // namespace

std::optional<Compiled> load_compiled(const fs::path& cache, const std::string& key) {
  auto text = read_file(cache / key / "resources.json", kMaxFileBytes);
  auto ptx = read_file(cache / key / "kernel.ptx", kMaxFileBytes);
  if (!text || !ptx) return std::nullopt;
  try {
    return parse(*text, *std::move(ptx));
  } catch (const JsonError&) {  // valid JSON of the wrong structure: the entry is damaged
    return std::nullopt;
  }
}

void save_compiled(const fs::path& cache, const std::string& key, const Compiled& compiled) {
  Json kernels = Json::array();
  for (const KernelResources& kernel : compiled.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"registers_per_thread", kernel.registers_per_thread},
                       {"static_shared_bytes", kernel.static_shared_bytes},
                       {"local_bytes_per_thread", kernel.local_bytes_per_thread},
                       {"code", write_code(kernel.code)}});
  }
  const Json json{{"schema", kSchema}, {"ptx_sha256", sha256_hex(compiled.ptx)}, {"kernels", kernels}};

  // The caller holds the key's lock, so no other thread of this process writes this entry now; the process number in
  // the name of the temporary folder keeps other processes apart.
  const fs::path temporary = fresh_beside(cache / key);
  std::error_code error;
  fs::create_directories(temporary, error);
  if (write_file(temporary / "kernel.ptx", compiled.ptx) && write_file(temporary / "resources.json", json_text(json))) {
    (void)replace_folder(temporary, cache / key);  // an entry that is already there is damaged
  }
  fs::remove_all(temporary, error);
}

}  // namespace roofwalk
