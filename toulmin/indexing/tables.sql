CREATE TABLE state (terms_version INTEGER, passage_words INTEGER, generation INTEGER, passages INTEGER, terms INTEGER,
  updates INTEGER);
CREATE TABLE term_files (name TEXT, digest TEXT);
CREATE TABLE files (number INTEGER PRIMARY KEY, path TEXT, size INTEGER, mtime_ns INTEGER, digest BLOB);
CREATE INDEX files_path ON files (path);
CREATE TABLE skipped (path TEXT, reason TEXT);
CREATE TABLE rejected (path TEXT, tried BLOB);
CREATE TABLE part (paths TEXT, read INTEGER, files INTEGER);
CREATE TABLE documents (number INTEGER PRIMARY KEY, file INTEGER, title TEXT, url TEXT, record TEXT, pages TEXT,
  headings TEXT, tail TEXT, metadata TEXT);
CREATE INDEX documents_file ON documents (file);
CREATE TABLE passages (number INTEGER PRIMARY KEY, key INTEGER, document INTEGER, start INTEGER, lead INTEGER,
  page INTEGER, section TEXT, codes BLOB, text BLOB);
CREATE INDEX passages_key ON passages (key);
CREATE INDEX passages_document ON passages (document);
