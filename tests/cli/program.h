// Runs the real program in a scratch folder and keeps what it printed.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "annulus/store/feature_file.h"
#include "annulus/task/synthetic.h"

namespace annulus {

struct Outcome {
  int exit_code = -1;  // 128 + signal for a program that was killed
  std::string out;
  std::string err;
  long most_memory_kb = 0;  // largest resident set
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that dies with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "annulus-cli-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    folder_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

// A child process whose output goes to two hidden files of the scratch folder.
class Child {
 public:
  Child(const Scratch& scratch, const std::vector<std::string>& command)
      : out_(scratch / ".out"), err_(scratch / ".err") {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int error = posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + command.front());
  }

  void signal(int number) const { kill(process_, number); }
  std::string err_so_far() const { return read_text(err_); }

  Outcome wait() {
    int status = 0;
    rusage usage{};
    wait4(process_, &status, 0, &usage);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out_), read_text(err_),
            usage.ru_maxrss};
  }

 private:
  std::string out_;
  std::string err_;
  pid_t process_ = 0;
};

inline std::vector<std::string> annulus_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ANNULUS_PROGRAM);
  return arguments;
}

inline Outcome run_annulus(const Scratch& scratch, std::vector<std::string> arguments) {
  return Child(scratch, annulus_command(std::move(arguments))).wait();
}

// Puts knobs that make a fit take milliseconds right after the verb, so that later ones may override them.
inline std::vector<std::string> quickly(std::vector<std::string> arguments) {
  const std::vector<std::string> knobs{"--virtual",       "4", "--epochs",           "8",
                                       "--search-epochs", "2", "--search-tolerance", "0.2"};
  arguments.insert(arguments.begin() + 1, knobs.begin(), knobs.end());
  return arguments;
}

inline SyntheticOptions small_data() {
  SyntheticOptions options;
  options.classes = 6;
  options.train_rows = 6;
  options.test_rows = 5;
  options.dimension = 16;
  options.noise = 0.5;
  return options;
}

// Writes generated features and gives back their path.
inline std::string write_small_features(const Scratch& scratch, const SyntheticOptions& options = small_data(),
                                        const std::string& name = "features.safetensors") {
  write_features(make_synthetic(options), scratch / name);
  return scratch / name;
}

inline std::vector<nlohmann::json> parse_json_lines(const std::string& text) {
  std::vector<nlohmann::json> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

// One sentence on one line, as every error of the program.
inline void expect_complaint(const Outcome& outcome, int exit_code, const std::string& part) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("annulus: ")) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

}  // namespace annulus
