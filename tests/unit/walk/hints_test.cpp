#include "grader/walk/hints.h"
#include "common/base/json.h"
#include "common/store/stored_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "common/record/run_record.h"
#include "common/roofline/cause.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;

Chapter chapter_with_hints() {
  Chapter chapter;
  chapter.name = "mini";
  chapter.hints = {{"general", {}}, {"for rows", {"over_fetch"}}, {"general too", {}}};
  return chapter;
}

std::vector<std::string> texts(const std::vector<OfferedHint>& hints) {
  std::vector<std::string> texts;
  for (const OfferedHint& hint : hints) texts.push_back(hint.text);
  return texts;
}

TEST(CauseHints, EveryCauseHasThreeDegrees) {
  for (const Cause* cause : causes_in_order()) {
    EXPECT_THAT(cause->hints, Each(::testing::SizeIs(::testing::Gt(20u)))) << cause->id;
  }
}

TEST(Hints, OnesOwnWordsComeBeforeTheGeneralOnes) {
  EXPECT_THAT(texts(hints_for(chapter_with_hints(), {"over_fetch"})),
              ElementsAre("for rows", "general", "general too"));
}

TEST(Hints, ACauseWithoutWordsInTheChapterGetsThoseOfTheTable) {
  const auto hints = hints_for(chapter_with_hints(), {"tail"});
  ASSERT_EQ(hints.size(), 5u);
  EXPECT_EQ(hints[0].cause, "tail");
  EXPECT_EQ(hints[3].text, "general");
  EXPECT_THAT(texts(hints_for(chapter_with_hints(), {})), ElementsAre("general", "general too"));
}

TEST(Hints, AreCountedWithinTheirKind) {
  const auto hints = hints_for(chapter_with_hints(), {"tail"});
  ASSERT_EQ(hints.size(), 5u);
  EXPECT_EQ(hints[2].number, 3u);
  EXPECT_EQ(hints[2].of, 3u);
  EXPECT_EQ(hints[3].number, 1u);
  EXPECT_EQ(hints[3].of, 2u);
}

TEST(Hints, AWrongKernelHearsNothingOfSpeed) {
  const auto hints = hints_for(chapter_with_hints(), {.trouble = "fault", .is_wrong = true});
  ASSERT_EQ(hints.size(), 3u);
  for (const OfferedHint& hint : hints) EXPECT_EQ(hint.cause, "fault");
  EXPECT_TRUE(is_wrong({{"verdict", "incorrect"}}));
  EXPECT_FALSE(is_wrong({{"verdict", "fail"}}));
}

TEST(Hints, AfterAPassOnlyTheLastOneRemainsAndComesLast) {
  const auto hints = hints_for(chapter_with_hints(), {.trouble = "over_fetch", .has_passed = true});
  EXPECT_THAT(texts(hints), ElementsAre("for rows", "general too"));
  EXPECT_FALSE(hints[0].leads_on);
  EXPECT_TRUE(hints[1].leads_on);
  EXPECT_EQ(hints[1].number, 1u);
  EXPECT_EQ(hints[1].of, 1u);
}

TEST(Hints, AfterAPassAllThatLeadToTheAceRemain) {
  Chapter chapter = chapter_with_hints();
  chapter.hints.push_back({"first step to the ace", {"ace"}});
  chapter.hints.push_back({"second step to the ace", {"ace"}});
  EXPECT_THAT(texts(hints_for(chapter, {})),
              ElementsAre("general", "general too", "first step to the ace", "second step to the ace"));
  const auto hints = hints_for(chapter, {.has_passed = true});
  EXPECT_THAT(texts(hints), ElementsAre("first step to the ace", "second step to the ace"));
  EXPECT_TRUE(hints[0].leads_on);
  EXPECT_EQ(hints[1].of, 2u);
  EXPECT_THAT(texts(hints_for(chapter, {.has_passed = true, .has_ace = true})), ::testing::IsEmpty());
}

TEST(Hints, AfterAnAceOnlyTroubleIsSpokenOf) {
  Situation situation{.has_passed = true, .has_ace = true};
  EXPECT_THAT(texts(hints_for(chapter_with_hints(), situation)), ::testing::IsEmpty());
  situation.trouble = "over_fetch";
  EXPECT_THAT(texts(hints_for(chapter_with_hints(), situation)), ElementsAre("for rows"));
}

TEST(Hints, TroubleIsTheDiagnosisOrElseTheVerdict) {
  const Json diagnosis = {{"cause", "tail"}};
  EXPECT_EQ(trouble_of({{"verdict", "fail"}, {"diagnosis", diagnosis}}), "tail");
  EXPECT_EQ(trouble_of({{"verdict", "pass"}, {"diagnosis", diagnosis}}), "tail");
  EXPECT_EQ(trouble_of({{"verdict", "incorrect"}, {"diagnosis", {{"cause", "low_precision"}}}}), "low_precision");
  EXPECT_EQ(trouble_of({{"verdict", "fault"}, {"diagnosis", nullptr}}), "fault");
  EXPECT_EQ(trouble_of({{"verdict", "fail"}, {"diagnosis", nullptr}}), "none");
}

TEST(Hints, AFaultHasHintsOfItsKind) {
  const auto trouble = [](FaultKind kind) {
    return trouble_of({{"verdict", "fault"}, {"diagnosis", nullptr}, {"fault", {{"kind", fault_name(kind)}}}});
  };
  EXPECT_EQ(trouble(FaultKind::out_of_bounds), "fault");  // the hints for "fault" are about bounds
  for (const FaultKind kind : {FaultKind::read_only, FaultKind::misaligned, FaultKind::uninitialized, FaultKind::race,
                               FaultKind::missing_wait, FaultKind::runaway, FaultKind::barrier_deadlock,
                               FaultKind::assertion, FaultKind::stack_overflow, FaultKind::bad_call}) {
    EXPECT_EQ(trouble(kind), fault_name(kind));
    EXPECT_EQ(hints_for(chapter_with_hints(), {.trouble = trouble(kind), .is_wrong = true}).size(), 3u);
  }
}

class HintGiverTest : public ::testing::Test {
 protected:
  HintGiverTest() : store_(*Store::open(folder_ / "roofwalk.db")) {}
  ~HintGiverTest() override { fs::remove_all(folder_); }

  void wrong_attempt() {
    ASSERT_TRUE(store_.add({.chapter = "mini",
                            .device = "virtual:test",
                            .created_at = "",
                            .source_sha256 = "b",
                            .attempt = {{"verdict", "incorrect"}, {"diagnosis", nullptr}}}));
  }
  void attempt(const std::string& cause) {
    ASSERT_TRUE(store_.add({.chapter = "mini",
                            .device = "virtual:test",
                            .created_at = "",
                            .source_sha256 = "a",
                            .is_starter = true,
                            .attempt = {{"verdict", "fail"}, {"diagnosis", {{"cause", cause}}}}}));
  }
  std::string next() {
    HintGiver giver(store_, chapter_, "virtual:test");
    const auto hint = giver.next();
    EXPECT_TRUE(hint) << hint.error().text();
    return *hint != nullptr ? (*hint)->text : "";
  }

  fs::path folder_ = fs::temp_directory_path() / ("roofwalk-hints-" + std::to_string(::getpid()));
  Store store_;
  Chapter chapter_ = chapter_with_hints();
};

TEST_F(HintGiverTest, GivesEachOnce) {
  EXPECT_EQ(next(), "general");
  EXPECT_EQ(next(), "general too");
  EXPECT_EQ(next(), "");
  ASSERT_TRUE(HintGiver(store_, chapter_, "virtual:test").forget());
  EXPECT_EQ(next(), "general");
}

TEST_F(HintGiverTest, ANewDiagnosisBringsItsOwnFirst) {
  EXPECT_EQ(next(), "general");
  attempt("over_fetch");
  EXPECT_EQ(next(), "for rows");
  EXPECT_EQ(next(), "general too");
  attempt("tail");
  HintGiver giver(store_, chapter_, "virtual:test");
  EXPECT_EQ(giver.offered().size(), 5u);
  EXPECT_FALSE(giver.all_given());
  EXPECT_EQ(next(), giver.offered()[0].text);
}

TEST_F(HintGiverTest, ANewMistakeIsToldAllAnewOnceTheKernelWasCorrect) {
  wrong_attempt();
  const std::string first = next();
  wrong_attempt();
  const std::string second = next();
  EXPECT_NE(second, first);
  next();
  EXPECT_EQ(next(), "");
  attempt("over_fetch");
  EXPECT_EQ(next(), "for rows");
  wrong_attempt();
  EXPECT_EQ(next(), first);
  attempt("over_fetch");
  EXPECT_EQ(next(), "general");
}

TEST_F(HintGiverTest, WhatCameBeforeAResetIsForgotten) {
  attempt("over_fetch");
  ASSERT_TRUE(store_.start_new_walk("mini"));
  EXPECT_EQ(next(), "general");
}

}  // namespace
}  // namespace roofwalk
