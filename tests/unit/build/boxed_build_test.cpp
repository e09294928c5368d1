// Tests of build() with the compilers in a box.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/build/build.h"
#include "common/build/run_tool.h"
#include "tests/support/boxes.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBoxedKernel = R"cu(#include <roofwalk.cuh>
static __global__ void add(const float* a, float* b) { b[threadIdx.x] = a[threadIdx.x]; }
SOLVE(const float* a, float* b) { add<<<1, 32>>>(a, b); }
)cu";

class BoxedBuild : public testing::Test {
 protected:
  void SetUp() override {
    ROOFWALK_SKIP_WITHOUT_BOXES();
    const auto found = find_toolkit(ROOFWALK_SOURCE_DIR);
    ASSERT_TRUE(found.ok()) << found.error().text();
    toolkit_ = *found;
    toolkit_.isolation = Isolation::boxed;
    folder_.write("include/roofwalk.cuh", "#define SOLVE(...) extern \"C\" __global__ void solve(__VA_ARGS__)\n");
  }

  Result<Artifact> build_text(const std::string& text, const std::string& cache = "cache") {
    return build(toolkit_, {.source = folder_.write("my/x.cu", text),
                            .arch = "compute_80",
                            .include = folder_.path() / "include",
                            .cache = folder_.path() / cache,
                            .timeout_s = 60});
  }

  std::string error_of(const std::string& text) {
    const auto artifact = build_text(text);
    return artifact ? "none" : artifact.error().text();
  }

  Toolkit toolkit_;
  test::ScratchFolder folder_;
};

TEST_F(BoxedBuild, GivesTheSameBytesWhereverAndWheneverItRuns) {
  const auto first = build_text(kBoxedKernel, "one");
  const auto second = build_text(kBoxedKernel, "two");
  ASSERT_TRUE(first.ok() && second.ok()) << (first ? second : first).error().text();
  EXPECT_EQ(first->ptx, second->ptx);
  EXPECT_THAT(first->ptx, HasSubstr("\"/src/kernel.cu\""));
  EXPECT_THAT(first->ptx, Not(HasSubstr(folder_.path().string())));
  ASSERT_EQ(first->kernels.size(), 1u);
  EXPECT_GT(first->kernels[0].registers_per_thread, 0);
}

// On a machine of many users, somebody may make the compile folder of another one first.
TEST_F(BoxedBuild, NeedsNoFolderThatAnotherUserCanTake) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: needs root, to become another user";
  constexpr uid_t kUser = 54'321;
  const fs::path taken = "/tmp/roofwalk-" + std::to_string(kUser);
  fs::create_directory(taken);
  folder_.write("my/x.cu", kBoxedKernel);
  for (const char* const part : {"", "my", "include"}) fs::permissions(folder_.path() / part, fs::perms(0755));
  const pid_t other = ::fork();
  if (other == 0) {
    const bool is_other = ::setresgid(kUser, kUser, kUser) == 0 && ::setresuid(kUser, kUser, kUser) == 0;
    ::_exit(is_other && build_text(kBoxedKernel).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  fs::remove(taken);
}

TEST_F(BoxedBuild, DoesNotTrustWhatWasCompiledWithoutABox) {
  Toolkit plain = toolkit_;
  plain.isolation = Isolation::none;
  std::swap(plain, toolkit_);
  const auto outside = build_text(kBoxedKernel);
  std::swap(plain, toolkit_);
  const auto inside = build_text(kBoxedKernel);
  ASSERT_TRUE(outside.ok() && inside.ok());
  EXPECT_THAT(outside->ptx, Not(HasSubstr("\"/src/kernel.cu\"")));
  EXPECT_THAT(inside->ptx, HasSubstr("\"/src/kernel.cu\""));
}

// Compilers have equal limits, so that `run` and `grade` fail for the same files.
TEST_F(BoxedBuild, CompilersHaveTheSameLimitsInABoxAndOutside) {
  const fs::path nvcc =
      folder_.write("toolkit/bin/nvcc", "#!/bin/sh\nulimit -t; ulimit -v; ulimit -f; ulimit -s\nexit 1\n");
  constexpr fs::perms kForAll = static_cast<fs::perms>(0755);  // the box is made without root's rights
  for (const fs::path& path : {folder_.path(), nvcc.parent_path().parent_path(), nvcc.parent_path(), nvcc}) {
    fs::permissions(path, kForAll);
  }
  const auto limits = [&](Isolation isolation) {
    const fs::path folder = folder_.path() / "work";
    fs::create_directories(folder);
    const auto outcome = run_tool({.root = folder_.path() / "toolkit", .version = "0", .isolation = isolation}, folder,
                                  {.arguments = {"nvcc"}, .files = {}, .makes = "nothing"});
    EXPECT_TRUE(outcome.ok()) << outcome.error().text();
    return outcome ? outcome->run.output : "";
  };
  EXPECT_EQ(limits(Isolation::boxed), limits(Isolation::none));
  EXPECT_THAT(limits(Isolation::none), testing::StartsWith("20\n"));
}

TEST_F(BoxedBuild, ErrorsNameTheLearnersFileAndLine) {
  const std::string file = (folder_.path() / "my/x.cu").string();
  EXPECT_THAT(error_of("#include <roofwalk.cuh>\n\nSOLVE(float* a) { a[0] = b; }\n"), HasSubstr(file + ":3: "));
  EXPECT_THAT(error_of("#include <roofwalk.cuh>\n__global__ void k() { asm(\"nonsense;\"); }\n"
                       "SOLVE(float* a) { k<<<1, 1>>>(); }\n"),
              HasSubstr(file + ":2: ptxas"));
}

TEST_F(BoxedBuild, ReadsNoFileOfThisMachine) {
  const fs::path secret = folder_.write("secret.h", "#error seed 4711\n");
  const auto including = [](const std::string& what) {
    return "#include <roofwalk.cuh>\n#include \"" + what + "\"\nSOLVE(float* a) {}\n";
  };
  EXPECT_THAT(error_of(including(secret.string())), HasSubstr("No such file"));
  EXPECT_THAT(error_of(including("/etc/passwd")), HasSubstr("No such file"));
  EXPECT_THAT(error_of(including("../secret.h")), HasSubstr("No such file"));
}

}  // namespace
}  // namespace roofwalk
