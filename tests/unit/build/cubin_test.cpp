#include "common/build/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "common/base/rng.h"
#include "common/base/subprocess.h"
#include "common/build/build.h"
#include "common/build/files.h"
#include "common/build/sass.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

// Kernels that use every kind of resource. -rdc keeps the functions that are not inlined.
constexpr const char* kSource = R"cu(
__device__ __noinline__ float shared_in_callee(int i) {
  __shared__ float z[500];
  z[i] = i;
  __syncthreads();
  return z[i ^ 3];
}
__device__ __noinline__ float frame_in_callee(int i) {
  volatile float z[100];
  z[i] = i;
  return z[i ^ 3] + shared_in_callee(i);
}
__device__ float recursive(int i) { volatile float z[10]; z[i % 10] = i; return i < 1 ? z[0] : z[i % 7] + recursive(i - 1) * recursive(i - 2); }
extern "C" __global__ void plain(float* c) { c[0] = 3; }
extern "C" __global__ void tile(float* c) {
  __shared__ float t[256];
  extern __shared__ float dynamic[];
  t[threadIdx.x] = dynamic[threadIdx.x];
  __syncthreads();
  c[threadIdx.x] = t[threadIdx.x ^ 1];
}
extern "C" __global__ void frame(float* c, int n) {
  float l[100];
  for (int i = 0; i < 100; ++i) l[i] = c[i * n];
  c[0] = l[n % 100];
}
extern "C" __global__ void calls(float* c) {
  __shared__ float q[100];
  q[threadIdx.x] = c[3];
  __syncthreads();
  c[0] = frame_in_callee(threadIdx.x) + q[c != 0];
}
extern "C" __global__ void recurses(float* c, int n) { c[0] = recursive(n); }
__device__ __noinline__ float of_table(float x) { volatile float z[60]; z[int(x)] = x; return z[int(x) ^ 1]; }
typedef float (*Function)(float);
__device__ Function table[1] = {of_table};
extern "C" __global__ void calls_by_address(float* c, int i) { c[0] = table[i](c[0]); }
struct Shape { virtual __device__ float area(float x) = 0; };
struct Square : Shape { __device__ float area(float x) override { volatile float z[200]; z[int(x)] = x; return z[int(x) ^ 1]; } };
struct Line : Shape { __device__ float area(float x) override { return x; } };
extern "C" __global__ void calls_a_virtual_function(float* c, int i) {
  Square square;
  Line line;
  Shape* shape = i > 2 ? (Shape*)&square : &line;
  c[0] = shape->area(c[0]);
}
extern "C" __global__ void copies(const float* a, float* c, int n) {
  __shared__ float t[256];
  const unsigned to = __cvta_generic_to_shared(&t[threadIdx.x]);
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(a + i) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    sum += t[threadIdx.x ^ 1];
    __syncthreads();
  }
  c[threadIdx.x] = sum;
}
)cu";

struct Compiled {
  std::string cubin;  // relocatable
  std::string whole;  // as for a GPU: functions that a kernel calls are parts of it
  std::string ptx;
  std::string report;  // output of `ptxas -v`
};

// Returns kSource compiled for an architecture such as "80". Compiles it only once for each.
const Compiled& compiled(const std::string& architecture = "80") {
  static std::map<std::string, Compiled> all;
  if (const auto known = all.find(architecture); known != all.end()) return known->second;
  return all[architecture] = [&] {
    const test::ScratchFolder folder;
    folder.write("k.cu", kSource);
    const auto toolkit = find_toolkit(ROOFWALK_SOURCE_DIR);
    EXPECT_TRUE(toolkit.ok()) << toolkit.error().text();
    const std::string bin = (toolkit->root / "bin").string();
    const auto run = [&](std::vector<std::string> arguments) {
      const auto result = run_command({.arguments = std::move(arguments), .working_directory = folder.path()});
      EXPECT_EQ(result->exit_code, 0) << result->output;
      return result->output;
    };
    run({bin + "/nvcc", "-ptx", "-rdc=true", "-lineinfo", "-arch=compute_" + architecture, "k.cu", "-o", "k.ptx"});
    const std::string report = run({bin + "/ptxas", "-v", "-c", "-arch=sm_" + architecture, "k.ptx", "-o", "k.cubin"});
    run({bin + "/ptxas", "-arch=sm_" + architecture, "k.ptx", "-o", "whole.cubin"});
    return Compiled{.cubin = read_file(folder.path() / "k.cubin", 1 << 20).value_or(""),
                    .whole = read_file(folder.path() / "whole.cubin", 1 << 20).value_or(""),
                    .ptx = read_file(folder.path() / "k.ptx", 1 << 20).value_or(""),
                    .report = report};
  }();
}

const std::string& cubin() { return compiled().cubin; }

// Returns the registers that `ptxas -v` reports for a single kernel.
int reported_registers(const std::string& kernel, const std::string& architecture = "80") {
  const std::string& report = compiled(architecture).report;
  const std::size_t used = report.find("Used ", report.find("entry function '" + kernel + "'"));
  return used != std::string::npos ? std::stoi(report.substr(used + 5)) : -1;
}

const KernelResources& find(const std::vector<KernelResources>& kernels, const std::string& name) {
  for (const KernelResources& kernel : kernels) {
    if (kernel.name == name) return kernel;
  }
  ADD_FAILURE() << "no kernel " << name;
  return kernels.front();
}

// Sizes of frames and shared memory follow from the source. A kernel's sizes include those of the functions that it
// calls, as the device linker adds them.
TEST(Cubin, HoldsWhatTheAssemblerAndTheLinkerReport) {
  const auto kernels = read_cubin(cubin());
  ASSERT_TRUE(kernels.ok()) << kernels.error().text();
  EXPECT_EQ(kernels->size(), 8u);  // functions are not counted as kernels
  EXPECT_EQ(find(*kernels, "plain").static_shared_bytes, 0);
  EXPECT_EQ(find(*kernels, "plain").local_bytes_per_thread, 0);
  EXPECT_EQ(find(*kernels, "tile").static_shared_bytes, 1024);
  EXPECT_EQ(find(*kernels, "tile").local_bytes_per_thread, 0);
  EXPECT_EQ(find(*kernels, "frame").local_bytes_per_thread, 400);
  EXPECT_EQ(find(*kernels, "calls").static_shared_bytes, 2400);
  EXPECT_GE(find(*kernels, "calls").local_bytes_per_thread, 400);
  EXPECT_GE(find(*kernels, "recurses").local_bytes_per_thread, 40);
  for (const char* name : {"plain", "tile", "frame"}) {
    EXPECT_EQ(find(*kernels, name).registers_per_thread, reported_registers(name)) << name;
  }
  for (const char* name : {"calls", "recurses"}) {
    EXPECT_GE(find(*kernels, name).registers_per_thread, reported_registers(name)) << name;
  }
}

TEST(Cubin, OfWholeProgramsHoldsTheSizesOfCalledFunctionsToo) {
  const auto kernels = read_cubin(compiled().whole);
  ASSERT_TRUE(kernels.ok()) << kernels.error().text();
  EXPECT_EQ(kernels->size(), 8u);
  EXPECT_EQ(find(*kernels, "plain").local_bytes_per_thread, 0);
  EXPECT_EQ(find(*kernels, "frame").local_bytes_per_thread, 400);
  EXPECT_GE(find(*kernels, "calls").local_bytes_per_thread, 400);
  EXPECT_GE(find(*kernels, "recurses").local_bytes_per_thread, 40);
}

// From sm_90 on, whole programs count what the system reserves of a block's shared memory.
TEST(Cubin, HoldsTheSharedMemoryOfTheSource) {
  for (const char* architecture : {"80", "89", "90a"}) {
    for (const std::string& cubin : {compiled(architecture).cubin, compiled(architecture).whole}) {
      SCOPED_TRACE(architecture);
      const auto kernels = read_cubin(cubin);
      ASSERT_TRUE(kernels.ok()) << kernels.error().text();
      EXPECT_EQ(find(*kernels, "plain").static_shared_bytes, 0);
      EXPECT_EQ(find(*kernels, "tile").static_shared_bytes, 1024);
      EXPECT_EQ(find(*kernels, "calls").static_shared_bytes, 2400);
    }
  }
}

TEST(Cubin, HoldsTheRegistersOnEveryArchitecture) {
  for (const char* architecture : {"80", "89", "90a"}) {
    const auto kernels = read_cubin(compiled(architecture).cubin);
    ASSERT_TRUE(kernels.ok()) << kernels.error().text();
    for (const char* name : {"plain", "tile", "frame"}) {
      EXPECT_GT(reported_registers(name, architecture), 0) << architecture;
      EXPECT_EQ(find(*kernels, name).registers_per_thread, reported_registers(name, architecture))
          << name << " for sm_" << architecture;
    }
  }
}

// Each global load or store, store to shared memory, barrier and exit in the machine code has the number of a PTX line
// with the matching instruction.
TEST(Cubin, TellsThePtxLineOfEveryInstruction) {
  std::vector<std::string> lines{""};
  std::istringstream text(compiled().ptx);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::map<int, const char*> words{
      {0x181, "ld.global"}, {0x186, "st.global"}, {0x188, "st.shared"}, {0x11d, "bar.sync"}, {0x14d, "ret"}};
  std::map<int, int> seen;
  const auto kernels = read_cubin(cubin());
  ASSERT_TRUE(kernels.ok());
  for (const KernelResources& kernel : *kernels) {
    ASSERT_FALSE(kernel.code.empty()) << kernel.name;
    for (const MachineInstruction& in : kernel.code) {
      ASSERT_LT(in.ptx_line, lines.size());
      ASSERT_LT(in.target, static_cast<int>(kernel.code.size()));
      const auto word = words.find(in.operation);
      if (word == words.end()) continue;
      ++seen[in.operation];
      EXPECT_THAT(lines[in.ptx_line], testing::HasSubstr(word->second)) << kernel.name;
    }
  }
  EXPECT_EQ(seen.size(), words.size());
  EXPECT_EQ(find(*kernels, "plain").code.back().operation, 0x14d);  // the padding after it is left out
}

// A function that may be called through a pointer counts as a part of the kernel, with its frame, registers and code.
TEST(Cubin, FunctionsCalledByAddressBelongToTheKernel) {
  const auto lines = [](const KernelResources& kernel) {
    std::set<std::uint32_t> out;
    for (const MachineInstruction& in : kernel.code) out.insert(in.ptx_line);
    return out;
  };
  // Returns the PTX line of a function's last instruction, its return.
  const auto last_line = [](const std::string& name) {
    const std::string& ptx = compiled().ptx;
    const std::size_t body = ptx.find("{", ptx.find(") " + name + "(\n", ptx.find(".func")));
    return static_cast<std::uint32_t>(1 + std::count(ptx.begin(), ptx.begin() + ptx.find("ret;", body), '\n'));
  };
  const auto kernels = read_cubin(cubin());
  ASSERT_TRUE(kernels.ok());
  for (const char* name : {"calls_by_address", "calls_a_virtual_function"}) {
    const KernelResources& kernel = find(*kernels, name);
    EXPECT_GE(kernel.local_bytes_per_thread, 800) << name;
    EXPECT_TRUE(lines(kernel).contains(last_line("_Z8of_tablef"))) << name;
    EXPECT_TRUE(lines(kernel).contains(last_line("_ZN6Square4areaEf"))) << name;
  }
  EXPECT_FALSE(lines(find(*kernels, "calls")).contains(last_line("_Z8of_tablef")));
}

// Beside asynchronous copies, ptxas emits loads of shared memory whose guard is always false. These only take issue
// slots and do not count as loads.
TEST(Cubin, WhatNeverRunsTakesItsTurnOnly) {
  constexpr std::uint16_t kNop = 0x118, kLoadShared = 0x184;
  for (const char* architecture : {"80", "89", "90a"}) {
    const auto kernels = read_cubin(compiled(architecture).cubin);
    ASSERT_TRUE(kernels.ok());
    std::map<int, int> seen;
    for (const MachineInstruction& in : find(*kernels, "copies").code) ++seen[in.operation];
    EXPECT_EQ(seen[kLoadShared], 1) << architecture;
    EXPECT_GE(seen[kNop], 3) << architecture;
  }
}

// Encodings as nvdisasm shows them, for sm_90a.
TEST(Cubin, FmasReadRegistersThatTheLastOneHasNotLeft) {
  constexpr std::uint64_t kReuseFirstAndThird = 0x14ull << 56, kOperandIsR6 = 6, kOperandIsZero = 255;
  struct Code {
    std::uint64_t low, high;
    int reads;
  };
  const Code codes[] = {
      {0x0000001505157223, kReuseFirstAndThird | kOperandIsR6, 3},  // FFMA R21, R5.reuse, R21, R6.reuse
      {0x0000000705077223, kReuseFirstAndThird | kOperandIsR6, 1},  // FFMA R7, R5.reuse, R7, R6.reuse
      {0x3f4000000a137423, 19, 0},                                  // FFMA R19, R10, R19, 0.75
      {0x0000000705077223, kOperandIsR6, 3},                        // FFMA R7, R5, R7, R6
      {0x0000000c0c0c7223, 12, 1},                                  // FFMA R12, R12, R12, R12
      {0x0000000705077223, kOperandIsZero, 2},                      // FFMA R7, R5, R7, RZ
  };
  std::string text;
  for (const Code& code : codes) {
    for (const std::uint64_t half : {code.low, code.high})
      text.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  const std::vector<MachineInstruction> read = read_machine_code(text, 90, {});
  ASSERT_EQ(read.size(), std::size(codes));
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].register_reads, codes[i].reads) << i;
}

// Encodings as nvdisasm shows them, for sm_80 and sm_90. An ATOMS.ARRIVE differs in its 64 bits alone.
TEST(Cubin, AtomicsThatCountLanesAreTold) {
  struct Code {
    std::uint64_t low, high;
    bool counts_lanes;
  };
  const Code codes[] = {
      {0x0000000004ff7f8c, 0x0001e2000d00003f, true},   // ATOMS.POPC.INC.32 RZ, [R4+URZ]
      {0x0000000002ff7f8c, 0x0001e4000d00403f, true},   // ATOMS.POPC.INC.32 RZ, [R2.X4+URZ]
      {0x0000000004ff7f8c, 0x0001e2000d800004, true},   // ATOMS.POPC.INC.32 RZ, [R4+UR4]
      {0x0000000004ff0f8c, 0x0001e2000d00003f, true},   // @P0 ATOMS.POPC.INC.32 RZ, [R4+URZ]
      {0x00000000ff027f8c, 0x001e24000c80043f, false},  // ATOMS.ARRIVE.64 R2, [URZ]
      {0x0000000504ff738c, 0x0001e80000000000, false},  // ATOMS.ADD RZ, [R4], R5
      {0x0000000504ff738c, 0x0001e80001800000, false},  // ATOMS.INC RZ, [R4], R5
      {0x000000020403738d, 0x000e240001800003, false},  // ATOMS.CAST.SPIN R3, [R4], R2, R3
  };
  std::string text;
  for (const Code& code : codes) {
    for (const std::uint64_t half : {code.low, code.high})
      text.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  const std::vector<MachineInstruction> read = read_machine_code(text, 80, {});
  ASSERT_EQ(read.size(), std::size(codes));
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].counts_lanes, codes[i].counts_lanes) << i;
}

TEST(Cubin, CutAtEveryByteIsAnErrorOrLess) {
  const std::string& bytes = cubin();
  ASSERT_TRUE(read_cubin(bytes).ok());
  // The section table is at the end, so every cut removes a part of it.
  for (std::size_t size = 0; size < bytes.size(); size += size < 4096 || size + 4096 > bytes.size() ? 1 : 61) {
    // The bytes are copied without spare memory behind them, so that an address sanitizer detects reads beyond the end.
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(read_cubin({cut.data(), cut.size()}).ok()) << size;
  }
}

TEST(Cubin, FlippedBytesNeverCrash) {
  Rng rng(1, "cubin");
  std::size_t read = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = cubin();
    for (int flips = 0; flips < 8; ++flips) {
      bytes[rng.next() % bytes.size()] = static_cast<char>(rng.next());
      // Half of the changes are in the section table, which holds all offsets and sizes.
      const std::size_t table = std::min<std::size_t>(bytes.size(), 64 * 60);
      bytes[bytes.size() - 1 - rng.next() % table] = static_cast<char>(rng.next());
    }
    const auto kernels = read_cubin(bytes);
    read += kernels.ok();
    if (!kernels) continue;
    for (const KernelResources& kernel : *kernels) {
      ASSERT_GE(kernel.static_shared_bytes, 0);
      ASSERT_GE(kernel.local_bytes_per_thread, 0);
    }
  }
  EXPECT_LT(read, 2000u);
}

TEST(Cubin, OtherFilesAreErrors) {
  EXPECT_FALSE(read_cubin("").ok());
  EXPECT_FALSE(read_cubin(".version 9.0\n.target sm_80\n").ok());
  const auto program = read_file("/proc/self/exe", 256 << 20);  // an ELF file for another machine
  ASSERT_TRUE(program.has_value());
  EXPECT_FALSE(read_cubin(*program).ok());
}

}  // namespace
}  // namespace roofwalk
