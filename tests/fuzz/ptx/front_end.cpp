// Fuzz target: takes any bytes as PTX. They must be parsed or rejected with a clean message; a parsed module must be
// lowered for a launch or rejected.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/ptx/module.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/program/program.h"
#include "tests/fuzz/ptx/check_module.h"

namespace {

void insist(const std::string& wrong) {
  if (wrong.empty()) return;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofwalk;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = ptx::parse(text, "kernel.cu");
  if (!module) {
    insist(ptx::wrong_in(module.error().message));
    return 0;
  }
  insist(ptx::wrong_in(*module));
  for (const ptx::Function& function : module->functions) {
    if (!function.is_entry || function.is_extern) continue;
    const std::vector<std::uint8_t> arguments(vgpu::parameter_layout(function).size_bytes);
    const auto program = vgpu::lower({.module = &*module,
                                      .function = &function,
                                      .grid = {2, 1, 1},
                                      .block = {48, 1, 1},
                                      .dynamic_shared_bytes = 0,
                                      .arguments = arguments,
                                      .address_of = [](const std::string&) { return std::uint64_t{0}; },
                                      .source_name = "kernel.cu"});
    if (!program && program.error().message.empty()) insist("a refusal without words");
  }
  return 0;
}
