#include "common/build/artifact_json.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "common/base/json_reader.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMostKernels = 10'000, kMostInstructions = 10'000'000;

// In the order of their bytes in `texts`.
constexpr std::string Artifact::*kTexts[] = {&Artifact::source_path, &Artifact::source_name, &Artifact::source_text,
                                             &Artifact::ptx};

// Instructions are arrays of six numbers, because kernels have thousands of them.
Json packed_json(const KernelResources& kernel) {
  Json code = Json::array();
  for (const MachineInstruction& in : kernel.code) {
    const int counts_lanes = in.counts_lanes ? 1 : 0;
    code.push_back({in.ptx_line, in.operation, in.target, in.register_reads, in.shared_bytes, counts_lanes});
  }
  return {{"name", kernel.name},
          {"registers_per_thread", kernel.registers_per_thread},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"local_bytes_per_thread", kernel.local_bytes_per_thread},
          {"code", std::move(code)}};
}

Result<KernelResources> kernel_from_json(const Json& json) {
  KernelResources out;
  JsonReader in(json, "a kernel of the artifact");
  in.text("name", out.name, 1 << 16);
  in.whole("registers_per_thread", out.registers_per_thread);
  in.whole("static_shared_bytes", out.static_shared_bytes);
  in.whole("local_bytes_per_thread", out.local_bytes_per_thread);
  in.each("code", kMostInstructions, [&](const Json& row) -> Status {
    if (!row.is_array() || row.size() != 6) {
      return Error{.message = "a kernel of the artifact: an instruction must be six numbers"};
    }
    MachineInstruction instruction;
    in.take_whole(&row[0], "code", instruction.ptx_line);
    in.take_whole(&row[1], "code", instruction.operation);
    in.take_whole(&row[2], "code", instruction.target, -1);
    in.take_whole(&row[3], "code", instruction.register_reads);
    in.take_whole(&row[4], "code", instruction.shared_bytes);
    int counts_lanes = 0;
    in.take_whole(&row[5], "code", counts_lanes, 0, 1);
    instruction.counts_lanes = counts_lanes != 0;
    out.code.push_back(instruction);
    return kOk;
  });
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

}  // namespace

Json packed_json(const Artifact& artifact, std::string& texts) {
  Json lengths = Json::array(), kernels = Json::array();
  for (const auto text : kTexts) {
    lengths.push_back((artifact.*text).size());
    texts += artifact.*text;
  }
  for (const KernelResources& kernel : artifact.kernels) kernels.push_back(packed_json(kernel));
  return {{"text_bytes", std::move(lengths)},
          {"source_sha256", artifact.source_sha256},
          {"arch", artifact.arch},
          {"may_call_libraries", artifact.may_call_libraries},
          {"kernels", std::move(kernels)}};
}

Result<Artifact> artifact_from_json(const Json& json, std::string_view texts) {
  Artifact out;
  JsonReader in(json, "the artifact");
  in.exactly("text_bytes", std::size(kTexts), [&](const Json& value, std::size_t i) {
    std::size_t bytes = 0;
    in.take_whole(&value, "text_bytes", bytes, std::size_t{0}, texts.size());
    out.*kTexts[i] = texts.substr(0, bytes);
    texts.remove_prefix(bytes);
  });
  in.text("source_sha256", out.source_sha256);
  in.text("arch", out.arch);
  in.flag("may_call_libraries", out.may_call_libraries);
  in.each("kernels", kMostKernels, [&](const Json& item) -> Status {
    ROOFWALK_TRY(KernelResources kernel, kernel_from_json(item));
    out.kernels.push_back(std::move(kernel));
    return kOk;
  });
  if (!texts.empty()) in.fail("there is more text than its lengths say");
  ROOFWALK_TRY_STATUS(in.end());
  return out;
}

}  // namespace roofwalk
