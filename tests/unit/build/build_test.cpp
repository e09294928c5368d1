// Builds artifacts from learners' files with the real compilers.
#include "common/build/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/build/files.h"
#include "common/build/run_tool.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// The test has its own header, so that it does not depend on the course's header.
constexpr const char* kHeader = "#define SOLVE(...) extern \"C\" __global__ void solve(__VA_ARGS__)\n";
constexpr const char* kKernel = R"cu(#include <roofwalk.cuh>
static __global__ void add(const float* a, float* b) {
  __shared__ float t[32];
  t[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = t[threadIdx.x ^ 1];
}
SOLVE(const float* a, float* b) { add<<<1, 32>>>(a, b); }
)cu";

class Build : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto found = find_toolkit(ROOFWALK_SOURCE_DIR);
    ASSERT_TRUE(found.ok()) << found.error().text();
    toolkit_ = *found;
  }

  Build() { folder_.write("include/roofwalk.cuh", kHeader); }

  BuildRequest request(const fs::path& source) const {
    return {.source = source,
            .arch = "compute_80",
            .include = folder_.path() / "include",
            .cache = folder_.path() / "cache",
            .timeout_s = 60};
  }

  Result<Artifact> build_text(const std::string& text) {
    return build(toolkit_, request(folder_.write("my/x.cu", text)));
  }

  Error error_of(const std::string& text) {
    const auto artifact = build_text(text);
    EXPECT_FALSE(artifact.ok());
    if (artifact.ok()) return {.message = ""};
    EXPECT_EQ(artifact.error().file, (folder_.path() / "my/x.cu").string());
    return artifact.error();
  }

  static inline Toolkit toolkit_;
  test::ScratchFolder folder_;
};

TEST_F(Build, GivesPtxAndResourcesAndTheCacheGivesTheSame) {
  ::setenv("NVCC_APPEND_FLAGS", "--definitely-not-a-flag", 1);  // must not reach the compiler
  const auto artifact = build_text(kKernel);
  ::unsetenv("NVCC_APPEND_FLAGS");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  EXPECT_EQ(artifact->source_path, (folder_.path() / "my/x.cu").string());
  EXPECT_EQ(artifact->source_name, "kernel.cu");
  EXPECT_EQ(artifact->source_text, kKernel);
  EXPECT_EQ(artifact->source_sha256.size(), 64u);
  EXPECT_EQ(artifact->arch, "compute_80");
  EXPECT_THAT(artifact->ptx, HasSubstr(".entry solve("));
  EXPECT_THAT(artifact->ptx, HasSubstr("/kernel.cu\""));
  EXPECT_THAT(artifact->ptx, HasSubstr(".loc\t1 4 "));
  EXPECT_THAT(artifact->ptx, Not(HasSubstr(folder_.path().string())));
  ASSERT_EQ(artifact->kernels.size(), 1u);  // only `add`, not `solve`
  EXPECT_THAT(artifact->kernels[0].name, HasSubstr("_Z3addPKfPf"));
  EXPECT_EQ(artifact->kernels[0].static_shared_bytes, 128);
  EXPECT_GT(artifact->kernels[0].registers_per_thread, 0);

  // The same text, in a file of another name and folder: no compiler runs, and the artifacts differ only in the path.
  const fs::path copy = folder_.write("other/$(touch pwned) 'x'.cu", kKernel);
  const auto start = std::chrono::steady_clock::now();
  const auto cached = build({.root = "/no/toolkit", .version = toolkit_.version}, request(copy));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
  ASSERT_TRUE(cached.ok()) << cached.error().text();
  EXPECT_EQ(cached->ptx, artifact->ptx);
  EXPECT_EQ(cached->source_path, copy.string());
  EXPECT_EQ(cached->kernels[0].registers_per_thread, artifact->kernels[0].registers_per_thread);
  EXPECT_FALSE(artifact->kernels[0].code.empty());
  EXPECT_EQ(cached->kernels[0].code, artifact->kernels[0].code);

  // A damaged entry counts as missing, and without a toolkit it cannot be rebuilt.
  for (const auto& entry : fs::directory_iterator(folder_.path() / "cache")) {
    fs::resize_file(entry.path() / "kernel.ptx", 100);
  }
  EXPECT_FALSE(build({.root = "/no/toolkit", .version = toolkit_.version}, request(copy)).ok());
  const auto again = build(toolkit_, request(copy));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->ptx, artifact->ptx);  // a second compilation gives the same bytes
}

TEST_F(Build, TheCacheDependsOnAllThatCounts) {
  ASSERT_TRUE(build_text(kKernel).ok());
  const Toolkit none{.root = "/no/toolkit", .version = toolkit_.version};
  BuildRequest same = request(folder_.path() / "my/x.cu");
  EXPECT_TRUE(build(none, same).ok());
  EXPECT_FALSE(build({.root = "/no/toolkit", .version = "13.9.1"}, same).ok());
  BuildRequest other_arch = same;
  other_arch.arch = "compute_90";
  EXPECT_FALSE(build(none, other_arch).ok());
  folder_.write("include/roofwalk.cuh", std::string(kHeader) + "// changed\n");
  EXPECT_FALSE(build(none, same).ok());
}

TEST_F(Build, LeavesNothingBehind) {
  const std::string text = "#include <roofwalk.cuh>\nSOLVE(int n) { n = }  // left behind?\n";
  error_of(text);
  const fs::path folder = "/tmp/roofwalk-" + std::to_string(::geteuid());
  struct stat info {};
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  // Other processes may use the temporary folder, so only this compilation's files must be gone.
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_NE(read_file(entry.path() / "kernel.cu", 1 << 20), text) << entry.path();
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "cache"));  // errors are not cached
}

TEST_F(Build, ErrorsNameTheLearnersFileAndLine) {
  const Error error = error_of(
      "#include <roofwalk.cuh>\n#include <vector>\nSOLVE(int n) {\n  std::vector<int> v(n);\n  cudaStream_t s;\n"
      "  cudaStreamCreate(&s);\n}\n");
  EXPECT_EQ(error.line, 4);
  EXPECT_THAT(error.message, HasSubstr("SOLVE calls std::vector"));
  EXPECT_THAT(error.message, HasSubstr("x.cu:6: SOLVE calls cudaStreamCreate"));
  EXPECT_THAT(error.advice, HasSubstr("SOLVE runs as device code: use scratch<T>(count)"));
}

TEST_F(Build, TooMuchSharedMemoryIsSaidPlainly) {
  const Error error = error_of(
      "#include <roofwalk.cuh>\n__global__ void big(float* a) {\n  __shared__ float t[20000];\n  t[threadIdx.x] = "
      "a[1];\n"
      "  __syncthreads();\n  a[0] = t[threadIdx.x ^ 5];\n}\nSOLVE(float* a) { big<<<1, 32>>>(a); }\n");
  EXPECT_EQ(error.message, "kernel big declares 80000 bytes of shared memory; CUDA allows 49152 (48 KiB)");
  EXPECT_GE(error.line, 2);
  EXPECT_LE(error.line, 6);
}

class LongBuild : public Build {};

TEST_F(LongBuild, SolveMayCallWhatTheStandardLibraryComputesAtCompileTime) {
  for (const std::string call : {"n = std::min(n, 7)", "std::swap(a, b)"}) {
    const auto artifact = build_text(
        "#include <algorithm>\n#include <roofwalk.cuh>\n__global__ void k(float* a) { a[threadIdx.x] = 1; }\n"
        "SOLVE(float* a, float* b, int n) { " +
        call + "; k<<<n, 32>>>(a); }\n");
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  }
  const Error error = error_of(
      "#include <roofwalk.cuh>\nint f(int n) { return n; }\n__global__ void k() {}\n"
      "SOLVE(int n) { k<<<f(n), 32>>>(); }\n");
  EXPECT_THAT(error.message, HasSubstr("SOLVE calls f, which exists on the host only"));
}

TEST_F(Build, BadInlineAssemblyPointsAtItsLine) {
  const Error error = error_of(
      "#include <roofwalk.cuh>\n__global__ void k(float* a) {\n  asm(\"foo.bar;\");\n}\n"
      "SOLVE(float* a) { k<<<1, 1>>>(a); }\n");
  EXPECT_EQ(error.line, 3);
  EXPECT_THAT(error.message, HasSubstr("ptxas: "));
}

TEST_F(Build, AFileWithoutAPlanIsRefused) {
  EXPECT_THAT(error_of("#include <roofwalk.cuh>\n__global__ void k() {}  // SOLVE\n").message,
              HasSubstr("defines no SOLVE(...)"));
}

TEST_F(Build, WhatIsNoKernelFileIsRefusedAtOnce) {
  EXPECT_THAT(error_of("").message, HasSubstr("is empty"));
  EXPECT_THAT(error_of(" \r\n\t\n").message, HasSubstr("is empty"));
  EXPECT_THAT(error_of(std::string("SOLVE\0", 6)).message, HasSubstr("is not text"));
  EXPECT_THAT(error_of("\x7f"
                       "ELF\x02\x01\x01 solve")
                  .message,
              HasSubstr("is not text"));
  for (const std::string mark : {"\xff\xfe", ""}) {
    const Error error = error_of(mark + std::string("S\0O\0L\0V\0E\0(\0)\0;\0\n\0", 18));
    EXPECT_EQ(error.message, "the file is saved as UTF-16");
    EXPECT_EQ(error.advice, "save it as UTF-8");
  }
  EXPECT_THAT(error_of("hello, world\n").message, HasSubstr("holds no SOLVE"));
  EXPECT_THAT(error_of("SOLVE " + std::string(1 << 20, ' ')).message, HasSubstr("has 1048582 bytes"));

  const auto message = [this](const fs::path& source) {
    const auto artifact = build(toolkit_, request(source));
    return artifact.ok() ? std::string() : artifact.error().message;
  };
  EXPECT_EQ(message(folder_.path() / "none.cu"), "there is no such file");
  EXPECT_EQ(message(folder_.path()), "this is not a file");
  const fs::path fifo = folder_.path() / "fifo.cu";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(message(fifo), "this is not a file");
}

// GCC's -Werror=date-time does not help: it ignores code that a pragma or a line marker declares to be a system header.
TEST_F(Build, TheTimeOfCompilingIsNotToBeHad) {
  const std::string begin = "#include <roofwalk.cuh>\n", end = "SOLVE(int* c) { k<<<1, 1>>>(c); }\n";
  const auto kernel = [](const std::string& macro) {
    return "__global__ void k(int* c) { c[0] = " + macro + "[0]; }\n";
  };
  for (const char* macro : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
    EXPECT_EQ(error_of(begin + kernel(macro) + end).text(),
              (folder_.path() / "my/x.cu").string() +
                  ":2: reads the time of compilation (leave __DATE__, __TIME__ and __TIMESTAMP__ out: what a kernel "
                  "does may not depend on when it is compiled)");
  }
  const std::string time = kernel("__TIMESTAMP__");
  EXPECT_EQ(error_of(begin + "# 7 \"kernel.cu\" 3\n" + time + end).line, 7);
  EXPECT_EQ(error_of(begin + "#ifndef K\n#define K\n#include __FILE__\n" + end + "#else\n" +
                     "#pragma GCC system_header\n" + time + "#endif\n")
                .message,
            "reads the time of compilation");
  EXPECT_THAT(error_of(begin + "#undef __TIME__\n" + kernel("__TIME__") + end).message, HasSubstr("__TIME__"));
  EXPECT_TRUE(build_text(begin + kernel("__FILE__") + end).ok());
}

TEST_F(Build, ACompilerThatHangsIsStoppedAndNotTheLearnersFault) {
  const fs::path source = folder_.write(
      "my/x.cu",
      "#include <roofwalk.cuh>\ntemplate <int D, long N> struct B { static constexpr long v = B<D - 1, 2 * N>::v + "
      "B<D - 1, 2 * N + 1>::v; };\ntemplate <long N> struct B<0, N> { static constexpr long v = N; };\n"
      "SOLVE(long* a) { *a = B<40, 1>::v; }\n");
  BuildRequest short_request = request(source);
  short_request.timeout_s = 0.7;
  const auto start = std::chrono::steady_clock::now();
  const auto artifact = build(toolkit_, short_request);
  ASSERT_FALSE(artifact.ok());
  EXPECT_THAT(artifact.error().message, HasSubstr("nvcc did not end within 0.7 s"));
  EXPECT_EQ(artifact.error().file, "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(Build, TwoAtOnceCompileOnceAndAgree) {
  const std::string text = std::string(kKernel) + "// two at once\n";
  const BuildRequest both = request(folder_.write("my/x.cu", text));
  std::string first, second;
  std::thread other([&] { first = build(toolkit_, both)->ptx; });
  second = build(toolkit_, both)->ptx;
  other.join();
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, second);
}

// A folder that is gone or cleaned is no mistake of a file, so the error names none.
TEST_F(Build, WhatTheMachineLacksIsNobodysMistake) {
  BuildRequest without_headers = request(folder_.write("my/x.cu", kKernel));
  without_headers.include = folder_.path() / "gone";
  const auto unbuilt = build(toolkit_, without_headers);
  ASSERT_FALSE(unbuilt.ok());
  EXPECT_EQ(unbuilt.error().text(), "there is no header in " + (folder_.path() / "gone").string());
  const auto error_in = [&](const std::string& folder) {
    const auto outcome = run_tool({folder_.path(), "13.0", Isolation::none}, folder_.path() / folder,
                                  {.arguments = {"nvcc"}, .files = {{"kernel.cu", "//"}}, .makes = "kernel.ptx"});
    EXPECT_FALSE(outcome.ok());
    return outcome.ok() ? Error{} : outcome.error();
  };
  folder_.write("file", "");
  const Error unwritten = error_in("file/work");
  EXPECT_THAT(unwritten.message, HasSubstr("cannot write to "));
  EXPECT_EQ(unwritten.file, "");
  fs::permissions(folder_.write("bin/nvcc", "#!/bin/sh\nrm -r ./*\nexit 1\n"), fs::perms::owner_all);
  fs::create_directory(folder_.path() / "work");
  const Error cleaned = error_in("work");
  EXPECT_EQ(cleaned.text(), (folder_.path() / "work").string() +
                                " was cleaned while a compiler worked in it (give the same command again)");
  fs::permissions(folder_.write("bin/nvcc", "#!/bin/sh\nexit 0\n"), fs::perms::owner_all);
  EXPECT_THAT(error_in("work").message, HasSubstr(" was cleaned while a compiler worked in it"));
}

// A limit of the file size stands for a full disk. cicc writes to its files as to memory, and so crashes without words.
TEST_F(Build, ACrashOnAFullDiskIsNobodysMistake) {
  fs::permissions(folder_.write("bin/nvcc", "#!/bin/sh\nkill -s BUS $$\n"), fs::perms::owner_all);
  fs::create_directory(folder_.path() / "work");
  const auto outcome = [&] {
    return run_tool({folder_.path(), "13.0", Isolation::none}, folder_.path() / "work",
                    {.arguments = {"nvcc"}, .files = {{"kernel.cu", "//"}}, .makes = "kernel.ptx"});
  };
  ASSERT_TRUE(outcome().ok()) << "with enough space, the crash is the file's";
  EXPECT_EQ(outcome()->run.exit_code, 128 + SIGBUS);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto full = outcome();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().message, HasSubstr("a compiler failed, and the disk has less than 256 MiB for it in "));
  EXPECT_EQ(full.error().file, "");
}

}  // namespace
}  // namespace roofwalk
