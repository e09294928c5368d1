// What lies in a folder or a zip, before anybody reads it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/archive.h"
#include "grader/class/hand_ins/found_file.h"

namespace roofwalk {

inline constexpr std::size_t kMostNames = 5;  // of what is no hand-in, that are told; of more, how many

class ChapterNames;

// Of one student, as far as one can see. What is neither a source nor a zip is counted, and only the first have names:
// a hand-in may hold any number of them.
struct Pile {
  std::vector<Found> files;         // sources and zips; what must not be opened is read with the reason
  std::size_t more_files = 0;       // beyond kMostFiles
  std::vector<std::string> others;  // what the first of all others are called
  std::size_t more_others = 0;
  std::int64_t newest_other_s = 0;  // when the last of all others was written

  struct Told {
    std::vector<std::string> parts;
    std::string reason;
    std::int64_t written_at_s = 0;
  };
  std::vector<Told> told = {};  // a folder below, and what is wrong with it

  bool is_empty() const { return files.empty() && others.empty(); }
  void add(Found found);
  void set_time(std::int64_t handed_in_at_s);  // of all that is in it
};

inline constexpr std::size_t kMostFiles = 10'000;  // of a hand-in, those in its zips included

// Of a file in a student's zip, with its folders: as long as a path may be on disk. A zip may hold thousands of names
// of 64 KiB, which packs to nothing and takes its time to read.
inline constexpr std::size_t kLongestName = 4096;

inline constexpr const char* kIsLink = "is a link, and links are not followed";

// Of a class.
struct Listing {
  std::vector<Found> top;               // files that lie in no folder
  std::map<std::string, Pile> folders;  // whose files' places begin below their names
  std::vector<Found> metadata;          // called as a platform calls it, where the platform writes it
  std::vector<Found> unproven;          // called so, too, where somebody else may have written it
  bool has_wrapper = false;             // all of it lies in the one folder of a platform's zip
  std::vector<std::string> leading_up;  // entries of a zip with a "..", which are no student's
  std::string trouble;                  // where the folder cannot be read
};

// "assignment_1234_export", as Gradescope calls the one folder of its zip: never a student's.
bool is_gradescope_export(const std::string& folder);

// When a file on disk was written; 0 where nobody can say.
std::int64_t written_at(const std::filesystem::path& path);

// What is on disk at a path, to be read; a link, and what is no plain file, with the reason why not.
Found file_at(const std::filesystem::path& path, std::vector<std::string> parts);

// A folder on disk, but for the one that is `skipped`. Links are not followed, and what is no plain file is not opened.
Listing list_folder(const std::filesystem::path& folder, const ChapterNames& chapters,
                    const std::filesystem::path& skipped = {});

// The same of a class's: where all of it lies in the one folder of a platform's zip, what lies in that.
Listing list_class_folder(const std::filesystem::path& folder, const ChapterNames& chapters,
                          const std::filesystem::path& skipped = {});

// A zip that a platform or an instructor made of a class.
Listing list_class(const std::shared_ptr<Archive>& zip, const ChapterNames& chapters);

// A zip that a student made: all of it is the student's, handed in when the zip was, whatever is written in it.
Pile list_own(const std::shared_ptr<Archive>& zip, std::int64_t handed_in_s);

// All of it is one student's.
Pile pile_of(Listing listing);

// What files that lie in no folder are called.
std::vector<std::string> names_in(const std::vector<Found>& files);

}  // namespace roofwalk
