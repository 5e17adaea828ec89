// SQLite behind RAII: one connection, its prepared statements, transactions that roll back unless committed.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace smelt::cache {

/// A use of a prepared statement; reset when it goes. Blobs and text are borrowed until then.
class Statement {
 public:
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  ~Statement();
  Statement(Statement&& other) noexcept : database_(other.database_), statement_(other.statement_) {
    other.statement_ = nullptr;
  }
  Statement& operator=(Statement&&) = delete;

  Statement& bind(int at, int64_t value);
  Statement& bind(int at, ByteView bytes);
  Statement& bind(int at, std::string_view text);
  Statement& bind(int at, const Digest& digest) { return bind(at, ByteView(digest.bytes)); }
  Result<bool> step();  ///< true: a row; false: done
  Result<void> run();   ///< to the end
  int64_t integer(int column) const;
  ByteView blob(int column) const;          ///< valid until the next step
  std::string_view text(int column) const;  ///< likewise
  bool digest(int column, Digest& out) const;

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_;
};

/// A connection. Used by one thread at a time (the store's mutex).
class Database {
 public:
  Database() = default;
  ~Database() { close(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Opens and brings the schema up to date. Errors: store_newer; store_corrupt (not ours, damaged); io.
  Result<void> open(const std::filesystem::path& path, bool read_only, bool durable);
  void close();
  bool is_open() const { return database_ != nullptr; }
  int version() const { return version_; }
  Result<Statement> prepare(const char* sql);
  Result<void> execute(const char* sql);
  int64_t last_row() const;

 private:
  Result<void> migrate();
  sqlite3* database_ = nullptr;
  int version_ = 0;
  std::map<const char*, sqlite3_stmt*> prepared_;  // by address: each call site has its own literal
};

/// BEGIN IMMEDIATE until commit(); rolls back otherwise.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace smelt::cache
