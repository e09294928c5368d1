// For tests that need boxes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "common/sandbox/probe.h"

// Skips the test where no box can be made; where $ROOFWALK_NEEDS_BOXES is set, fails it.
#define ROOFWALK_SKIP_WITHOUT_BOXES()                                                   \
  if (const ::roofwalk::Status boxes = ::roofwalk::require_boxes(); !boxes) {           \
    if (std::getenv("ROOFWALK_NEEDS_BOXES") != nullptr) FAIL() << boxes.error().text(); \
    GTEST_SKIP() << boxes.error().text();                                               \
  }                                                                                     \
  static_assert(true)

namespace roofwalk::test {

// For tests that go on without boxes where none can be made. Where $ROOFWALK_NEEDS_BOXES is set, they fail instead.
inline bool has_boxes() {
  const Status boxes = require_boxes();
  if (!boxes && std::getenv("ROOFWALK_NEEDS_BOXES") != nullptr) ADD_FAILURE() << boxes.error().text();
  return boxes.ok();
}

}  // namespace roofwalk::test
