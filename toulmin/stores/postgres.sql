-- The statements that make and change a corpus in PostgreSQL; `-- NAME` begins a section, by which it is read.

-- tables
CREATE TABLE about (made jsonb NOT NULL, moment bigint NOT NULL, passages bigint NOT NULL, terms bigint NOT NULL);
CREATE TABLE files (path text COLLATE "C" PRIMARY KEY, mark bigint NOT NULL, file bigint NOT NULL, at bigint NOT NULL,
    size bigint, mtime_ns bigint, digest bytea, reason text);
CREATE TABLE documents (number bigint PRIMARY KEY, file bigint NOT NULL, place integer NOT NULL, title text NOT NULL,
    path text NOT NULL, url text, record text, metadata text NOT NULL, pages text NOT NULL, headings text NOT NULL, tail text NOT NULL,
    passages integer NOT NULL);
CREATE TABLE passages (document bigint NOT NULL, number integer NOT NULL, key bigint NOT NULL, start bigint NOT NULL,
    lead integer NOT NULL, page integer, section text NOT NULL, text text NOT NULL,
    PRIMARY KEY (document, number));
CREATE TABLE found (key bigint PRIMARY KEY, length integer NOT NULL, codes bytea NOT NULL, words bigint[] NOT NULL,
    counts smallint[] NOT NULL);
CREATE TABLE frequencies (word bigint PRIMARY KEY, passages bigint NOT NULL);

-- indexes
/* Made after the first rows are inserted, which takes a fraction of the time. */
CREATE INDEX documents_file ON documents (file);
CREATE INDEX passages_key ON passages (key);
CREATE INDEX found_words ON found USING gin (words);

-- staged
CREATE TEMPORARY TABLE new_files (path text COLLATE "C" PRIMARY KEY, mark bigint, file bigint, at bigint, size bigint,
    mtime_ns bigint, digest bytea, reason text, known bigint);
CREATE TEMPORARY TABLE new_documents (file bigint, place integer, title text, path text COLLATE "C", url text,
    record text, metadata text, pages text, headings text, tail text, passages integer);
CREATE TEMPORARY TABLE new_passages (file bigint, place integer, number integer, key bigint, start bigint, lead integer,
    page integer, section text, text text);
CREATE TEMPORARY TABLE new_found (file bigint, key bigint, length integer, codes bytea, words bigint[],
    counts smallint[]);

-- looked_at
/* Without statistics of the rows just copied, the planner would scan them over and over. */
ANALYZE new_files; ANALYZE new_documents; ANALYZE new_passages; ANALYZE new_found

-- overtaken
DELETE FROM new_files AS new USING new_files AS mine LEFT JOIN files AS held ON held.path = mine.path
WHERE new.path = mine.path AND CASE WHEN mine.file IN (0, mine.known) THEN coalesce(held.file, 0) <> mine.known
    ELSE (held.at, held.mark) > (mine.at, mine.mark) END

-- superseded
CREATE TEMPORARY TABLE lost ON COMMIT DROP AS
WITH old AS (DELETE FROM documents USING new_files AS new JOIN files AS held ON held.path = new.path
        WHERE documents.file = held.file AND held.file <> new.file RETURNING documents.number),
    taken AS (DELETE FROM passages USING old WHERE passages.document = old.number RETURNING passages.key)
SELECT DISTINCT key FROM taken

-- files
INSERT INTO files (path, mark, file, at, size, mtime_ns, digest, reason)
SELECT path, mark, file, at, size, mtime_ns, digest, reason FROM new_files
ON CONFLICT (path) DO UPDATE SET mark = excluded.mark, file = excluded.file, at = excluded.at, size = excluded.size,
    mtime_ns = excluded.mtime_ns, digest = excluded.digest, reason = excluded.reason;
DELETE FROM files USING new_files AS new WHERE files.path = new.path AND files.file = 0 AND files.reason IS NULL

-- documents
CREATE TEMPORARY TABLE numbered ON COMMIT DROP AS
SELECT new.file, new.place, row_number() OVER (ORDER BY new.path, new.place)
    + (SELECT coalesce(max(number), 0) FROM documents) AS document
FROM new_documents AS new JOIN new_files USING (file);
ANALYZE numbered;
INSERT INTO documents
SELECT document, file, place, title, path, url, record, metadata, pages, headings, tail, passages
FROM new_documents JOIN numbered USING (file, place);
INSERT INTO passages SELECT document, number, key, start, lead, page, section, text
FROM new_passages JOIN numbered USING (file, place)

-- found
CREATE TEMPORARY TABLE gained ON COMMIT DROP AS
WITH made AS (INSERT INTO found (key, length, codes, words, counts {vector})
        SELECT DISTINCT ON (key) key, length, codes, words, counts {vector} FROM new_found JOIN new_files USING (file)
        ON CONFLICT (key) DO NOTHING RETURNING length, words)
SELECT length, words, 1 AS sign FROM made;
WITH ended AS (DELETE FROM found USING lost
        WHERE found.key = lost.key AND NOT EXISTS (SELECT FROM passages WHERE passages.key = lost.key)
        RETURNING length, words)
INSERT INTO gained SELECT length, words, -1 FROM ended;
INSERT INTO frequencies AS held
SELECT word, sum(sign) AS more FROM gained, unnest(words) AS word GROUP BY word HAVING sum(sign) <> 0
ON CONFLICT (word) DO UPDATE SET passages = held.passages + excluded.passages;
DELETE FROM frequencies WHERE passages = 0 AND EXISTS (SELECT FROM gained WHERE sign < 0)

-- totals
UPDATE about SET moment = %s, passages = about.passages + more.passages, terms = about.terms + more.terms
FROM (SELECT coalesce(sum(sign), 0) AS passages, coalesce(sum(sign * length), 0) AS terms FROM gained) AS more
RETURNING about.passages
