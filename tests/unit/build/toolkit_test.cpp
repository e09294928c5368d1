#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "common/build/build.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Sets an environment variable and restores it at the end.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* value = std::getenv(name)) old_ = value;
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class FindToolkit : public testing::Test {
 protected:
  FindToolkit() {
    for (const char* name : {"ROOFWALK_CUDA", "CUDA_HOME", "CUDA_PATH"}) ::unsetenv(name);
  }

  // Writes a toolkit whose nvcc reports `version`.
  fs::path fake(const std::string& name, const std::string& version) {
    for (const char* tool : {"nvcc", "ptxas"}) {
      const fs::path file = folder_.write(name + "/bin/" + tool, "#!/bin/sh\necho 'Cuda compilation tools, release " +
                                                                     version + ", V" + version + ".7'\n");
      fs::permissions(file, fs::perms::owner_all);
    }
    return fs::canonical(folder_.path() / name);
  }

  void set_path(const std::string& front) { ::setenv("PATH", (front + ":/usr/bin:/bin").c_str(), 1); }

  Variable path_{"PATH"}, chosen_{"ROOFWALK_CUDA"}, home_{"CUDA_HOME"}, cuda_path_{"CUDA_PATH"};
  test::ScratchFolder folder_;
};

TEST_F(FindToolkit, TheChoiceOfTheSetUpComesFirst) {
  const fs::path chosen = fake("chosen", "13.1"), other = fake("other", "13.0");
  set_path((other / "bin").string());
  ::setenv("ROOFWALK_CUDA", chosen.c_str(), 1);
  const auto toolkit = find_toolkit("/nowhere");
  ASSERT_TRUE(toolkit.ok()) << toolkit.error().text();
  EXPECT_EQ(toolkit->root, chosen);
  EXPECT_EQ(toolkit->version, "13.1.7");
}

TEST_F(FindToolkit, AChoiceThatDoesNotWorkIsAnErrorThatNamesIt) {
  for (const fs::path& chosen : {fs::path("/nowhere"), fake("old", "12.9")}) {
    ::setenv("ROOFWALK_CUDA", chosen.c_str(), 1);
    const auto toolkit = find_toolkit("/nowhere");
    ASSERT_FALSE(toolkit.ok());
    EXPECT_THAT(toolkit.error().message, HasSubstr(chosen.string()));
  }
}

TEST_F(FindToolkit, AnOldOneFirstOnThePathIsPassedOver) {
  const fs::path old = fake("old", "12.4"), broken = fake("broken", ""), good = fake("good", "13.0");
  set_path((old / "bin").string() + ":" + (broken / "bin").string() + ":" + (good / "bin").string());
  const auto toolkit = find_toolkit("/nowhere");
  ASSERT_TRUE(toolkit.ok()) << toolkit.error().text();
  EXPECT_EQ(toolkit->root, good);
}

TEST_F(FindToolkit, LinksAreFollowedToTheToolkit) {
  const fs::path good = fake("good", "13.0");
  fs::create_directories(folder_.path() / "links");
  fs::create_symlink(good / "bin/nvcc", folder_.path() / "links/nvcc");
  set_path((folder_.path() / "links").string());
  const auto toolkit = find_toolkit("/nowhere");
  ASSERT_TRUE(toolkit.ok()) << toolkit.error().text();
  EXPECT_EQ(toolkit->root, good);
}

// A box mounts only the toolkit's folder. If nvcc is a script that calls another nvcc, the toolkit must be the folder
// of that other nvcc.
TEST_F(FindToolkit, AScriptThatCallsAnotherNvccGivesThatOnesFolder) {
  const fs::path real = fs::canonical(folder_.write("real/bin/nvcc",
                                                    "#!/bin/sh\n"
                                                    "if [ \"$1\" = -dryrun ]; then\n"
                                                    "  [ -z \"$NVCC_PREPEND_FLAGS\" ] || exit 1\n"
                                                    "  echo '#$ _HERE_=elsewhere'\n"
                                                    "  echo \"#$ TOP=$(dirname \"$0\")/..\"\n"
                                                    "  exit\n"
                                                    "fi\n"
                                                    "echo 'Cuda compilation tools, release 13.0, V13.0.7'\n"));
  fs::permissions(real, fs::perms::owner_all);
  for (const char* tool : {"nvcc", "ptxas"}) {
    const fs::path script =
        folder_.write(std::string("scripts/bin/") + tool, "#!/bin/sh\nexec " + real.string() + " \"$@\"\n");
    fs::permissions(script, fs::perms::owner_all);
  }
  Variable flags("NVCC_PREPEND_FLAGS");
  ::setenv("NVCC_PREPEND_FLAGS", "--no-such-flag", 1);
  set_path((folder_.path() / "scripts/bin").string());
  const auto toolkit = find_toolkit("/nowhere");
  ASSERT_TRUE(toolkit.ok()) << toolkit.error().text();
  EXPECT_EQ(toolkit->root, real.parent_path().parent_path());
  EXPECT_EQ(toolkit->version, "13.0.7");
}

}  // namespace
}  // namespace roofwalk
