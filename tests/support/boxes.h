// Macros for tests that need boxes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "common/sandbox/probe.h"

// Skips the test if boxes do not work here; fails it if $ROOFWALK_NEEDS_BOXES is set.
#define ROOFWALK_SKIP_WITHOUT_BOXES()                                                   \
  if (const ::roofwalk::Status boxes = ::roofwalk::require_boxes(); !boxes) {           \
    if (std::getenv("ROOFWALK_NEEDS_BOXES") != nullptr) FAIL() << boxes.error().text(); \
    GTEST_SKIP() << boxes.error().text();                                               \
  }                                                                                     \
  static_assert(true)

namespace roofwalk::test {

// Whether boxes work here. If $ROOFWALK_NEEDS_BOXES is set, a test fails where they do not.
inline bool has_boxes() {
  const Status boxes = require_boxes();
  if (!boxes && std::getenv("ROOFWALK_NEEDS_BOXES") != nullptr) ADD_FAILURE() << boxes.error().text();
  return boxes.ok();
}

}  // namespace roofwalk::test
