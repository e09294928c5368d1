#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "common/base/json.h"
#include "grader/attempt/attempt.h"
#include "tests/support/golden.h"
#include "tests/unit/doctor/places.h"

namespace roofwalk {
namespace {

using testing::expect_golden;
using testing::h100;
using ::testing::HasSubstr;
using testing::laptop;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::server;
using ::testing::StartsWith;

std::string page(const Surroundings& around, std::size_t columns = 80, bool colors = false) {
  return doctor_text(around, findings_of(around), Colors(colors), columns);
}

// Returns a lab's server with many findings.
Surroundings shared_server() {
  Surroundings around = server();
  around.system.slurm_job = "4711";
  around.storage.network = "NFS";
  around.gpu.counters_for_admins_only = true;
  around.gpu.driver.gpus[0].reaches_host_memory = true;
  around.gpu.driver.gpus[0].state.persistence = false;
  around.gpu.driver.gpus[0].state.processes = {
      {{.pid = 7, .used_bytes = 3'100'000'000, .name = "python", .user = "alice"}}};
  around.gpu.driver.gpus.push_back(h100());
  around.gpu.driver.gpus[1].state.clock_reason_bits = 0x80;
  around.sandbox.box.works = false;
  around.sandbox.box.trouble = "bwrap: setting up uid map: Permission denied";
  around.sandbox.box.apparmor_restricts = true;
  return around;
}

// Returns a container in which almost nothing works.
Surroundings bare_container() {
  Surroundings around = laptop();
  around.system.container = "docker";
  around.system.is_root = true;
  around.system.cores = 1;
  around.gpu.on_the_bus = 1;
  around.storage.unwritable = {"my"};
  around.tools.compiler.clear();
  around.tools.toolkit = Error{.message = "no CUDA toolkit 13 or later was found",
                               .advice = "run ./roofwalk once, which installs the CUDA toolkit into .venv"};
  around.tools.runs.reset();
  around.screen.gnuplot.clear();
  around.screen.font.clear();
  around.screen.is_terminal = false;
  around.sandbox = {};
  return around;
}

const std::vector<std::pair<std::string, Surroundings (*)()>> kPlaces = {
    {"laptop", laptop}, {"server", server}, {"shared_server", shared_server}, {"bare_container", bare_container}};

TEST(DoctorPage, ReadsLikeThis) {
  for (const auto& [name, place] : kPlaces) {
    expect_golden(std::filesystem::path(TEST_SOURCE_DIR "/tests/unit/doctor/golden") / (name + ".txt"), page(place()));
  }
}

TEST(DoctorPage, FitsEightyColumnsAndMakesTheBestOfFewer) {
  for (const auto& [name, place] : kPlaces) {
    for (const std::size_t columns : {60u, 80u}) {
      for (const bool colors : {false, true}) {
        std::istringstream in(page(place(), columns, colors));
        for (std::string line; std::getline(in, line);) {
          EXPECT_LE(shown_columns(line), 80u) << name << ": " << line;
          EXPECT_THAT(line, Not(MatchesRegex(".* "))) << name;
        }
      }
    }
  }
}

TEST(DoctorPage, BeginsWithWhatMatters) {
  EXPECT_THAT(page(laptop()), StartsWith("You are ready. There is no NVIDIA GPU here, and you need none"));
  EXPECT_THAT(page(server()), StartsWith("You are ready. The virtual GPU works"));
  Surroundings old = server();
  old.gpu.driver.cuda_version = 12040;
  EXPECT_THAT(page(old), StartsWith("You are ready: everything works on the virtual GPU. The NVIDIA GPU"));
  EXPECT_THAT(page(bare_container()), StartsWith("4 things stand in the way."));
  Surroundings one = laptop();
  one.storage.free_bytes = 0;
  EXPECT_THAT(page(one), StartsWith("1 thing stands in the way."));
}

TEST(DoctorPage, EndsWithHowMuchCouldBeBetter) {
  EXPECT_THAT(page(laptop()), HasSubstr("\n\nNothing to do here."));
  Surroundings around = laptop();
  around.screen.columns = 60;
  EXPECT_THAT(page(around), HasSubstr("\n\n1 thing could be better (tip)"));
  EXPECT_THAT(page(bare_container()), Not(HasSubstr("could be better")));
}

// Names of programs and files come from other people, so they may contain escape sequences.
TEST(DoctorPage, LetsNoEscapeSequenceThrough) {
  Surroundings around = server();
  around.gpu.driver.gpus[0].name = "\x1b[2J";
  around.screen.font = "\x1b]0;title\x07";
  around.storage.unwritable = {"my\x1b[31m"};
  EXPECT_THAT(page(around), Not(HasSubstr("\x1b")));
}

TEST(DoctorJson, HasTheseKeys) {
  const Surroundings around = server();
  expect_golden(std::filesystem::path(TEST_SOURCE_DIR "/tests/unit/doctor/golden") / "server.json",
                json_text(doctor_json(around, findings_of(around))) + "\n");
}

TEST(DoctorJson, SaysWhatThePageSays) {
  for (const auto& [name, place] : kPlaces) {
    const Surroundings around = place();
    const auto findings = findings_of(around);
    const Json json = doctor_json(around, findings);
    EXPECT_EQ(json["ready"], !is_broken(findings)) << name;
    EXPECT_EQ(json["gpus"].size(), around.gpu.driver.gpus.size()) << name;
    ASSERT_EQ(json["findings"].size(), findings.size()) << name;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const Json& finding = json["findings"][i];
      EXPECT_EQ(finding["good"], findings[i].condition != Condition::broken);
      EXPECT_EQ(finding["advice"].is_null(), findings[i].advice.empty());
      EXPECT_THAT(json_line(finding["advice"]), Not(HasSubstr("$ ")));
    }
  }
}

}  // namespace
}  // namespace roofwalk
