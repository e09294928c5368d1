#include "common/sandbox/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

BoxFacts forbidden() {
  BoxFacts facts;
  facts.bubblewrap = "bubblewrap 0.9.0";
  facts.works = false;
  facts.trouble = "bwrap: setting up uid map: Permission denied";
  return facts;
}

TEST(BoxProbe, WhatWorksNeedsNoRemedy) {
  BoxFacts facts = forbidden();
  facts.works = true;
  const BoxProbe probe = judge_boxes(facts);
  EXPECT_TRUE(probe.works);
  EXPECT_EQ(probe.what, "bubblewrap 0.9.0 can sandbox other people's code");
  EXPECT_THAT(probe.remedy, IsEmpty());
}

TEST(BoxProbe, WithoutBubblewrapItIsToBeInstalled) {
  EXPECT_THAT(judge_boxes({}).remedy, Contains("$ sudo apt-get install bubblewrap"));
}

TEST(BoxProbe, AnOldBubblewrapIsNamed) {
  BoxFacts facts = forbidden();
  facts.bubblewrap = "bubblewrap 0.6.1";
  EXPECT_EQ(judge_boxes(facts).what, "bubblewrap 0.6.1 is too old");
}

TEST(BoxProbe, OnUbuntuTheProfileIsToBeLoaded) {
  BoxFacts facts = forbidden();
  facts.apparmor_restricts = true;
  EXPECT_THAT(judge_boxes(facts).remedy, Contains("$ sudo apparmor_parser -r bwrap-userns-restrict"));
  EXPECT_EQ(judge_boxes(facts).what,
            "bubblewrap 0.9.0 cannot make a sandbox: bwrap: setting up uid map: Permission denied");
}

TEST(BoxProbe, TheSettingThatForbidsIsNamed) {
  BoxFacts facts = forbidden();
  facts.user_namespaces = 0;
  EXPECT_THAT(judge_boxes(facts).remedy, Contains("$ sudo sysctl user.max_user_namespaces=10000"));
  facts = forbidden();
  facts.namespaces_for_root = true;
  EXPECT_THAT(judge_boxes(facts).remedy, Contains("$ sudo sysctl kernel.unprivileged_userns_clone=1"));
}

TEST(BoxProbe, AContainerHasToAllowIt) {
  BoxFacts facts = forbidden();
  facts.container = "docker";
  EXPECT_THAT(judge_boxes(facts).remedy, Contains(HasSubstr("--security-opt systempaths=unconfined")));
}

}  // namespace
}  // namespace roofwalk
