// The shell of a timing program: jobs come in on standard input, one a line, and each is answered by one line of JSON.
#pragma once

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "annulus/base/error.h"

namespace annulus {

// The words of a job after its name.
class JobWords {
 public:
  JobWords(const std::string& line, std::istringstream& words) : line_(line), words_(words) {}

  template <class T>
  T next(const char* what) {
    T value{};
    if (!(words_ >> value)) fail(ErrorKind::kUsage, "expected {} in the job \"{}\"", what, line_);
    return value;
  }
  std::size_t count(const char* what) {
    const auto value = next<long long>(what);
    if (value < 1) fail(ErrorKind::kUsage, "expected {} of at least 1 in the job \"{}\", found {}", what, line_, value);
    return static_cast<std::size_t>(value);
  }
  int threads() { return static_cast<int>(count("a number of threads")); }

 private:
  const std::string& line_;
  std::istringstream& words_;
};

// A job times itself and returns a JSON object.
using Jobs = std::map<std::string, std::function<std::string(JobWords&)>>;

// Returns the program's exit code: the process stays warm between jobs and ends with its input, or at the first fault.
inline int run_jobs(const char* program, const Jobs& jobs) {
  std::string line;
  try {
    while (std::getline(std::cin, line)) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      const auto job = jobs.find(name);
      if (job == jobs.end()) fail(ErrorKind::kUsage, "expected the name of a job, found \"{}\"", line);
      JobWords rest(line, words);
      std::puts(job->second(rest).c_str());
      std::fflush(stdout);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  }
  return 0;
}

}  // namespace annulus
