// The ways in which one file name can be read as Canvas' own, without the evidence of other names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/class/hand_ins/canvas/canvas_names.h"

namespace roofwalk {

inline constexpr std::size_t kMostReadings = 8;  // limit for one name; a name with more stays open (undecided)

inline constexpr std::string_view kLateMark = "_LATE", kSmallLate = "_late";

// Reads anon_FIVE_FILE_REST, the form for an assignment with anonymous grading; LATE_ precedes it if the file is late.
// FIVE is an id of five characters.
std::optional<CanvasMark> anonymous_mark(const std::string& text);

// All readings as NAME + ID + _question_QUESTION_FILE_REST, the form for an answer to a quiz question. In this form,
// names keep their dashes.
std::vector<CanvasMark> quiz_marks(const std::string& text);

// All readings, at most `most`, as NAME_ID_FILE_REST or NAME_LATE_ID_FILE_REST, or as NAME_ID_text.html or
// NAME_ID_link.html for a hand-in without a file. Older releases write the late mark in small letters.
std::vector<CanvasMark> plain_marks(const std::string& text, std::size_t most);

bool has_large_letters(const std::string& name);

// Whether Canvas may have written this reading: it writes names in small letters, and numbers without leading zeros.
bool may_be_canvas(const CanvasMark& mark);

}  // namespace roofwalk
