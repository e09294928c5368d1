// The files in a folder or a zip, before they are read.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/archive.h"
#include "grader/class/hand_ins/found_file.h"

namespace roofwalk {

// How many names of files that are not hand-ins are shown; further ones are only counted.
inline constexpr std::size_t kMostNames = 5;

class ChapterNames;

// Files that are presumably one student's. Of files other than sources and zips, and of what is not listed, only the
// first are kept, and the rest is counted, because a hand-in may contain any number of them.
struct Pile {
  std::vector<Found> files;         // sources and zips; if one must not be opened, reading it gives the reason
  std::size_t more_files = 0;       // beyond kMostFiles
  std::vector<std::string> others;  // the names of the first other files
  std::size_t more_others = 0;
  std::int64_t newest_other_s = 0;  // when the newest of the other files was written

  struct Told {
    std::vector<std::string> parts;
    std::string reason;
    std::int64_t written_at_s = 0;
  };
  std::vector<Told> told = {};  // the first things that are not listed, such as a link to a folder, and why
  std::size_t more_told = 0;
  std::int64_t newest_told_s = 0;  // when the newest of those that are only counted was written

  bool is_empty() const { return files.empty() && others.empty(); }
  void add(Found found);
  void tell(Told one);
  void take_counts(const Pile& other);         // adds what the other pile only counted
  void set_time(std::int64_t handed_in_at_s);  // sets the time of everything in it
};

inline constexpr std::size_t kMostTold = 10;       // limit of lines about one hand-in; further ones are counted
inline constexpr std::size_t kMostFiles = 10'000;  // limit for one hand-in, including the files in its zips

inline constexpr const char* kIsLink = "is a link, and links are not followed";
inline constexpr const char* kIsBehindLink = "lies behind a link, and links are not followed";

// The contents of a class.
struct Listing {
  std::vector<Found> top;                 // files that are not in a folder
  std::map<std::string, Pile> folders;    // by folder; paths in each Pile begin below the folder
  std::vector<Found> metadata;            // files with the name and the place of a platform's metadata
  std::vector<Found> unproven;            // files with such a name in a place where someone else may have written them
  bool has_wrapper = false;               // everything is in the one folder of a platform's zip
  std::vector<std::string> leading_up;    // entries of a zip with a ".."; they belong to no student
  std::size_t too_long = 0;               // entries of a zip whose names are too long to be read
  std::vector<std::string> named_debris;  // files that macOS added, with names from a platform
  std::vector<std::string> not_utf8;      // names of a zip's entries whose encoding is unknown
  std::string trouble;                    // set if the folder cannot be read
};

// Returns the end of a line about `count` names that are too long.
std::string too_long_words(std::size_t count);

// Whether the name is like "assignment_1234_export", the one folder in a zip from Gradescope. Such a folder is never a
// student's.
bool is_gradescope_export(const std::string& folder);

// Whether the name is like "submission_331", Gradescope's folder for one submission.
bool is_gradescope_submission(const std::string& folder);

// When a file on disk was written; 0 if unknown.
std::int64_t written_at(const std::filesystem::path& path);

// The file at a path, not read yet. Reading a link, or anything except a plain file, gives an error with the reason.
Found file_at(const std::filesystem::path& path, std::vector<std::string> parts);

// The contents of a folder on disk, without the folder `skipped`. Links are not followed, and only plain files are
// opened.
Listing list_folder(const std::filesystem::path& folder, const ChapterNames& chapters,
                    const std::filesystem::path& skipped = {});

// Like list_folder(), for a class's folder. If everything is in the one folder of a platform's zip, lists that folder.
Listing list_class_folder(const std::filesystem::path& folder, const ChapterNames& chapters,
                          const std::filesystem::path& skipped = {});

// The contents of a zip that a platform or an instructor made of a class.
Listing list_class(const std::shared_ptr<Archive>& zip, const ChapterNames& chapters);

// The contents of a zip that a student made. All files belong to this student and get the time of the zip's hand-in;
// the names and times in the zip do not count, because the student chose them.
Pile list_own(const std::shared_ptr<Archive>& zip, std::int64_t handed_in_s);

// The whole listing as the files of one student.
Pile pile_of(Listing listing);

// The names of files that are not in a folder (Listing::top).
std::vector<std::string> names_in(const std::vector<Found>& files);

}  // namespace roofwalk
