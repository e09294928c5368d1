// The table `collected` of grades.db: the lines about files of unknown owner, by the path in which they lay.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/store/sqlite.h"
#include "grader/class/hand_ins/submissions.h"

namespace roofwalk {

class Collected {
 public:
  // The database must outlive this object.
  explicit Collected(Database& database) : database_(database) {}

  // The lines that still count: label and reason. A path's lines count until it, or a folder around it, is collected
  // again.
  std::vector<LeftOut> left_out() const;

  // Records the lines of the paths that were collected. A path that was left out itself, and is no longer in its
  // folder, loses its line: somebody followed the advice and moved it. Must be called in the caller's transaction.
  // False on failure: the database's message gives the reason.
  bool add(const Handed& handed);

  // Copies the rows of another database that can be read.
  void copy(Database& other);

 private:
  std::map<std::string, std::string> by_path() const;  // lines as in the table
  bool insert(const std::string& path, const std::string& unowned);

  Database& database_;
};

}  // namespace roofwalk
