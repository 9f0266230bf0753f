// Requests predictions from a running `annulus serve` as fast as possible, or at a rate, and checks every response to
// the last digit: serve_load PORT MODEL FEATURES ROWS_A_REQUEST CONNECTIONS SECONDS RATE (0: as fast as possible)
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/models/model_file.h"
#include "annulus/task/synthetic.h"
#include "server/predict/served_model.h"

namespace annulus {
namespace {

using Clock = std::chrono::steady_clock;

struct Question {
  std::string request;
  std::string answer;  // the body that must come back
};

// Requests with rows of the feature file, and the responses that the library computes for them.
std::vector<Question> make_questions(const FeatureSet& set, const server::ServedModel& model, std::size_t rows) {
  std::vector<Question> questions;
  const std::size_t most = std::min<std::size_t>(set.rows() / rows, 2000);
  Matrix<float> block(rows, set.dimension());
  for (std::size_t q = 0; q < most; ++q) {
    set.copy_rows(q * rows, block.view());
    std::string body = "{\"features\":[";
    for (std::size_t i = 0; i < rows; ++i) {
      body += i == 0 ? "[" : ",[";
      for (std::size_t j = 0; j < block.cols(); ++j) body += fmt::format("{}{}", j == 0 ? "" : ",", block(i, j));
      body += "]";
    }
    body += "]}";
    Question question;
    question.request = fmt::format(
        "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
        body.size(), body);
    question.answer = "[";
    std::size_t row = 0;
    for (const Prediction& prediction : model.predictor(false, false).predict(std::as_const(block).view())) {
      if (row > 0) question.answer += ",";
      model.write_json(prediction, row++, 5, kFalseReject, question.answer);
    }
    question.answer += "]\n";
    questions.push_back(std::move(question));
  }
  if (questions.empty()) fail(ErrorKind::kUsage, "the feature file has fewer than {} rows", rows);
  return questions;
}

struct Connection {
  int socket = -1;
  const Question* question = nullptr;  // null: idle
  std::size_t sent = 0;
  std::string received;
  Clock::time_point begin;
};

class Load {
 public:
  Load(int port, const std::vector<Question>& questions, std::size_t connections)
      : questions_(questions), epoll_(epoll_create1(0)), connections_(connections) {
    for (Connection& connection : connections_) open(connection, port);
  }

  void run(double seconds, double rate) {
    const Clock::time_point begin = Clock::now();
    const Clock::time_point end = begin + duration(seconds);
    std::size_t started = 0;
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (now >= end && busy_ == 0) break;
      // At a rate, a question's clock starts when it was due, also when no connection was free then.
      while (now < end && !idle_.empty()) {
        const Clock::time_point due = rate > 0.0 ? begin + duration(static_cast<double>(started) / rate) : now;
        if (due > now) break;
        ask(*idle_.front(), due);
        idle_.pop_front();
        ++started;
      }
      wait(rate > 0.0 ? 1 : 100);
    }
    seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::string summary(std::size_t rows) {
    std::sort(milliseconds_.begin(), milliseconds_.end());
    const auto at = [this](double fraction) {
      if (milliseconds_.empty()) return 0.0;
      return milliseconds_[static_cast<std::size_t>(fraction * static_cast<double>(milliseconds_.size() - 1))];
    };
    std::string statuses;
    for (const auto& [status, count] : statuses_) {
      statuses += fmt::format("{}\"{}\":{}", statuses.empty() ? "" : ",", status, count);
    }
    const double answered = static_cast<double>(milliseconds_.size());
    return fmt::format(
        "{{\"seconds\":{:.2f},\"answered\":{},\"requests_per_second\":{:.0f},\"rows_per_second\":{:.0f},"
        "\"p50_ms\":{:.2f},\"p99_ms\":{:.2f},\"max_ms\":{:.2f},\"wrong\":{},\"statuses\":{{{}}}}}\n",
        seconds_, milliseconds_.size(), answered / seconds_, answered * static_cast<double>(rows) / seconds_, at(0.5),
        at(0.99), at(1.0), wrong_, statuses);
  }
  std::size_t wrong() const { return wrong_; }

 private:
  static Clock::duration duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  void open(Connection& connection, int port) {
    connection.socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (::connect(connection.socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      fail(ErrorKind::kIo, "cannot connect to port {}", port);
    }
    epoll_event event{EPOLLIN, {&connection}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.socket, &event);
    idle_.push_back(&connection);
  }

  void ask(Connection& connection, Clock::time_point due) {
    connection.question = &questions_[next_++ % questions_.size()];
    connection.begin = due;
    connection.received.clear();
    const std::string& text = connection.question->request;
    // Loopback takes a request of some kilobytes at once; a larger one blocks until the server has read it.
    for (connection.sent = 0; connection.sent < text.size();) {
      const ssize_t sent =
          ::send(connection.socket, text.data() + connection.sent, text.size() - connection.sent, MSG_NOSIGNAL);
      if (sent <= 0) fail(ErrorKind::kIo, "the server closed the connection");
      connection.sent += static_cast<std::size_t>(sent);
    }
    ++busy_;
  }

  void wait(int milliseconds) {
    epoll_event events[64];
    const int count = epoll_wait(epoll_, events, 64, milliseconds);
    for (int i = 0; i < count; ++i) receive(*static_cast<Connection*>(events[i].data.ptr));
  }

  void receive(Connection& connection) {
    char bytes[65536];
    const ssize_t size = ::recv(connection.socket, bytes, sizeof(bytes), 0);
    if (size <= 0) fail(ErrorKind::kIo, "the server closed the connection");
    connection.received.append(bytes, static_cast<std::size_t>(size));
    const std::string& text = connection.received;
    const std::size_t header = text.find("\r\n\r\n");
    if (header == std::string::npos) return;
    const std::size_t length = text.find("Content-Length: ");
    const std::size_t wanted = static_cast<std::size_t>(std::strtoull(text.c_str() + length + 16, nullptr, 10));
    if (text.size() < header + 4 + wanted) return;
    const int status = std::atoi(text.c_str() + 9);
    ++statuses_[status];
    if (status == 200) {
      if (text.compare(header + 4, std::string::npos, connection.question->answer) != 0) ++wrong_;
      milliseconds_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - connection.begin).count());
    } else if (status != 429 && status != 503 && status != 504) {
      ++wrong_;
    }
    connection.question = nullptr;
    --busy_;
    idle_.push_back(&connection);
  }

  const std::vector<Question>& questions_;
  int epoll_;
  std::vector<Connection> connections_;
  std::deque<Connection*> idle_;
  std::size_t busy_ = 0;
  std::size_t next_ = 0;
  std::size_t wrong_ = 0;
  std::map<int, std::size_t> statuses_;
  std::vector<double> milliseconds_;
  double seconds_ = 0.0;
};

int make(const char* file) {
  SyntheticOptions options;
  options.classes = 1000;
  options.dimension = 384;
  write_features(make_synthetic(options), file);
  return 0;
}

int run(char** arguments) {
  const int port = std::atoi(arguments[1]);
  const auto rows = static_cast<std::size_t>(std::atoi(arguments[4]));
  const auto connections = static_cast<std::size_t>(std::atoi(arguments[5]));
  const server::ServedModel model("load", "0", read_model(arguments[2]), nullptr);
  const std::vector<Question> questions = make_questions(read_features(arguments[3]), model, rows);
  Load load(port, questions, connections);
  load.run(std::atof(arguments[6]), std::atof(arguments[7]));
  fmt::print("{}", load.summary(rows));
  return load.wrong() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace annulus

int main(int count, char** arguments) {
  const bool makes = count == 3 && std::string(arguments[1]) == "make";
  if (count != 8 && !makes) {
    fmt::print(stderr, "usage: serve_load PORT MODEL FEATURES ROWS_A_REQUEST CONNECTIONS SECONDS RATE\n");
    return 2;
  }
  try {
    return makes ? annulus::make(arguments[2]) : annulus::run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "serve_load: {}\n", error.what());
    return 1;
  }
}
