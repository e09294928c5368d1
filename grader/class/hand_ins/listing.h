// What is in a folder or a zip, before it is read.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/archive.h"
#include "grader/class/hand_ins/found_file.h"

namespace roofwalk {

inline constexpr std::size_t kMostNames = 5;  // shown of files that are no hand-in; of the rest, their number

class ChapterNames;

// Presumably one student's files. Those that are neither sources nor zips are only counted, except that the first have
// names: a hand-in may hold any number of them.
struct Pile {
  std::vector<Found> files;         // sources and zips; reading one that must not be opened gives the reason
  std::size_t more_files = 0;       // beyond kMostFiles
  std::vector<std::string> others;  // the names of the first other files
  std::size_t more_others = 0;
  std::int64_t newest_other_s = 0;  // when the last of the other files was written

  struct Told {
    std::vector<std::string> parts;
    std::string reason;
    std::int64_t written_at_s = 0;
  };
  std::vector<Told> told = {};  // folders in it, and what is wrong with them

  bool is_empty() const { return files.empty() && others.empty(); }
  void add(Found found);
  void set_time(std::int64_t handed_in_at_s);  // of all that is in it
};

inline constexpr std::size_t kMostFiles = 10'000;  // of a hand-in, including those in its zips

inline constexpr const char* kIsLink = "is a link, and links are not followed";

// What is in a class.
struct Listing {
  std::vector<Found> top;               // files that lie in no folder
  std::map<std::string, Pile> folders;  // whose files' places begin below their names
  std::vector<Found> metadata;          // called as a platform calls it, where the platform writes it
  std::vector<Found> unproven;          // called so, too, where somebody else may have written it
  bool has_wrapper = false;             // all of it lies in the one folder of a platform's zip
  std::vector<std::string> leading_up;  // entries of a zip with a "..", which are no student's
  std::size_t too_long = 0;             // entries of a zip whose names are too long to be read
  std::string trouble;                  // where the folder cannot be read
};

// A line's end about names of that kind.
std::string too_long_words(std::size_t count);

// "assignment_1234_export", as Gradescope calls the one folder of its zip: never a student's.
bool is_gradescope_export(const std::string& folder);

// "submission_331", as Gradescope calls the folder of one submission.
bool is_gradescope_submission(const std::string& folder);

// When a file on disk was written; 0 if unknown.
std::int64_t written_at(const std::filesystem::path& path);

// The file at a path, to be read; reading a link, or what is not a plain file, gives the reason why not.
Found file_at(const std::filesystem::path& path, std::vector<std::string> parts);

// A folder on disk, without the one that is `skipped`. Links are not followed, and only plain files are opened.
Listing list_folder(const std::filesystem::path& folder, const ChapterNames& chapters,
                    const std::filesystem::path& skipped = {});

// The same for a class's folder. If all of it is in the one folder of a platform's zip, lists that folder.
Listing list_class_folder(const std::filesystem::path& folder, const ChapterNames& chapters,
                          const std::filesystem::path& skipped = {});

// A zip that a platform or an instructor made of a class.
Listing list_class(const std::shared_ptr<Archive>& zip, const ChapterNames& chapters);

// A zip that a student made: all of it is the student's, handed in when the zip was, whatever it says itself.
Pile list_own(const std::shared_ptr<Archive>& zip, std::int64_t handed_in_s);

// The whole listing as one student's.
Pile pile_of(Listing listing);

// The names of files that are in no folder.
std::vector<std::string> names_in(const std::vector<Found>& files);

}  // namespace roofwalk
