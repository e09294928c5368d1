// Batch workers that answer, crash, hang, lie or stay silent, each played by a script.
#include "grader/class/batch/worker.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class Worker : public ::testing::Test {
 protected:
  Result<Json> run(const std::string& script, WorkerLimits limits = {}) {
    const fs::path file = folder_.write("worker", "#!/bin/bash\n" + script);
    fs::permissions(file, fs::perms::owner_all);
    return run_in_worker(file, {{"job", 1}}, limits);
  }
  const test::ScratchFolder folder_;
};

TEST_F(Worker, AnswersOverItsOwnChannel) {
  const auto answer =
      run("read -r job <&3; echo noise; echo '{\"verdict\": \"forged\"}'; echo \"{\\\"got\\\": $job, \\\"verb\\\": "
          "\\\"$1\\\"}\" >&3\n");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(json_line(*answer), R"({"got":{"job":1},"verb":"grade-worker"})");
}

TEST_F(Worker, AnswersThatAreLarge) {
  const auto answer = run("echo -n '{\"a\": \"' >&3; head -c 5000000 /dev/zero | tr '\\0' x >&3; echo '\"}' >&3\n");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->at("a").get<std::string>().size(), 5'000'000u);
}

TEST_F(Worker, WhateverGoesWrongIsOneLine) {
  EXPECT_THAT(run("echo ouch >&2; kill -SEGV $$\n").error().text(),
              HasSubstr("the worker died by signal 11 (Segmentation fault): ouch"));
  EXPECT_THAT(run("exit 3\n").error().text(), HasSubstr("the worker ended with 3 and no answer"));
  EXPECT_THAT(run("echo '{\"half\": ' >&3\n").error().text(), HasSubstr("no answer"));
  EXPECT_THAT(run("echo '[1]' >&3\n").error().text(), HasSubstr("no answer"));
  EXPECT_THAT(run("echo '{\"error\": \"no toolkit\"}' >&3\n").error().text(), HasSubstr("no toolkit"));
  EXPECT_THAT(run("printf '\\033[31mred' ; exit 1\n").error().text(), HasSubstr("\\x1b[31mred"));
}

TEST_F(Worker, ThatHangsIsKilledWithAllThatItStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = run("sleep 1000 & sleep 1000\n", {.wall_s = 0.3});
  EXPECT_THAT(answer.error().text(), HasSubstr("did not end within 0 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(Worker, ThatEatsMemoryHitsItsLimit) {
  EXPECT_FALSE(run("x=$(head -c 400000000 /dev/zero | tr '\\0' x); echo '{}' >&3\n", {.memory_bytes = 128u << 20}));
}

TEST_F(Worker, OfAProgramThatWasBuiltAnewIsNotStarted) {
  const fs::path file = folder_.write("program", "1");
  const SameProgram same(file);
  EXPECT_TRUE(same.check());
  folder_.write("another", "2");
  fs::rename(folder_.path() / "another", file);
  ASSERT_FALSE(same.check());
  EXPECT_THAT(same.check().error().text(), HasSubstr("was built anew while it graded (give the same command again)"));
  fs::remove(file);
  EXPECT_FALSE(same.check());
}

TEST_F(Worker, ThatIsNotThere) { EXPECT_FALSE(run_in_worker(folder_.path() / "none", {{"job", 1}}, {})); }

}  // namespace
}  // namespace roofwalk
