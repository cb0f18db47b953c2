// A frozen model with the sessions that its calls use one after the other: each call borrows what it needs.
// What a session has allocated serves the next call.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <bahdanau/core/fork.hpp>
#include <bahdanau/core/thread_pool.hpp>
#include <bahdanau/decode/groups.hpp>
#include <bahdanau/decode/limits.hpp>
#include <bahdanau/decode/session.hpp>
#include <bahdanau/model/frozen_model.hpp>

namespace bahdanau::detail {

/// Shared by all copies of a `Frozen`, and by all threads.
template <class Architecture>
class SessionPool {
 public:
  using Session = DecodingSession<Architecture>;

  explicit SessionPool(std::shared_ptr<const FrozenModel<Architecture>> model) : model_(std::move(model)) {}

  const std::shared_ptr<const FrozenModel<Architecture>>& model() const { return model_; }
  const Architecture& architecture() const { return model_->architecture(); }

  // What decoding text asks besides.
  const Vocabularies& vocabularies() const { return architecture().vocabularies(); }
  std::size_t max_length() const { return architecture().max_length(); }
  DecodingSizes sizes() const { return DecodingSizes::of(architecture()); }
  GroupRule grouping() const { return GroupRule::of<typename Architecture::Backend>(); }

  /// A session for as long as it is needed. The pool must outlive it.
  class Borrowed {
   public:
    Borrowed(const SessionPool& pool, std::unique_ptr<Session> session)
        : pool_(&pool), session_(std::move(session)) {}
    ~Borrowed() {
      if (session_ != nullptr) pool_->give_back(std::move(session_));
    }
    Borrowed(Borrowed&&) = default;
    Borrowed& operator=(Borrowed&&) = delete;
    explicit operator bool() const { return session_ != nullptr; }  // not once it was moved from
    Session& operator*() const { return *session_; }
    Session* operator->() const { return session_.get(); }

   private:
    const SessionPool* pool_;
    std::unique_ptr<Session> session_;
  };

  Borrowed borrow() const {
    {
      const Forks::Postponed postponed;  // nobody holds the lock in a child
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto session = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(session)};
      }
    }
    return {*this, std::make_unique<Session>(*model_)};
  }

  /// Gives back what idle sessions have allocated.
  void trim() const {
    std::vector<std::unique_ptr<Session>> idle;
    const Forks::Postponed postponed;
    const std::lock_guard lock(mutex_);
    idle.swap(idle_);
  }

  /// What a session may keep for later calls, in bytes.
  static constexpr std::size_t most_kept = std::size_t{64} << 20;

 private:
  void give_back(std::unique_ptr<Session> session) const {
    if (session->bytes() > most_kept) return;
    const Forks::Postponed postponed;
    const std::lock_guard lock(mutex_);
    if (idle_.size() < ThreadPool::cores()) idle_.push_back(std::move(session));
  }

  std::shared_ptr<const FrozenModel<Architecture>> model_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Session>> idle_;
};

}  // namespace bahdanau::detail
