-- An archive of the first version, as SQLite dumped it. Never changed: later versions must still read it.
BEGIN TRANSACTION;
CREATE TABLE archive_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT archive_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "archive_version" VALUES('0001');
CREATE TABLE briefs (
	run TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	decision BIGINT NOT NULL, 
	generation BIGINT NOT NULL, 
	operator TEXT NOT NULL, 
	model TEXT, 
	effort TEXT, 
	temperature DOUBLE, 
	island BIGINT NOT NULL, 
	hint TEXT, 
	PRIMARY KEY (run, number), 
	FOREIGN KEY(run) REFERENCES runs (id)
);
INSERT INTO "briefs" VALUES('first',1,1,0,'translate','m',NULL,0.5,0,'wide loads');
CREATE TABLE candidates (
	id TEXT NOT NULL, 
	gpu TEXT NOT NULL, 
	body TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "candidates" VALUES('19aec92e3b3ede3c6ac0','h200','{"flags":{"extra":[],"fast_math":false,"gpu":"h200"},"source":"__global__ void f() {}"}','2026-11-15T23:58:00.973952+00:00');
CREATE TABLE records (
	run TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	"key" TEXT, 
	candidate TEXT, 
	brief BIGINT, 
	verdict TEXT, 
	rung TEXT, 
	basis TEXT, 
	score DOUBLE, 
	gpu TEXT, 
	model TEXT, 
	cost_usd DOUBLE, 
	words TEXT, 
	body TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (run, number), 
	CONSTRAINT records_once UNIQUE (run, kind, "key"), 
	FOREIGN KEY(run) REFERENCES runs (id), 
	FOREIGN KEY(candidate) REFERENCES candidates (id)
);
INSERT INTO "records" VALUES('first',1,'decision','1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"action":"breed","briefs":[{"arm":{"effort":null,"model":"m"},"context":[],"genome":{},"hint":"wide loads","island":0,"lesson":null,"near_miss":null,"number":1,"operator":"translate","parents":[],"temperature":0.5}],"candidates":[],"generation":0,"number":1,"reason":"start","seed":3}','2026-11-15T23:58:00.989027+00:00');
INSERT INTO "records" VALUES('first',2,'call','"c1"',NULL,1,NULL,NULL,NULL,NULL,NULL,'m',0.01,NULL,'{"brief":1,"cost_usd":0.01,"effort":null,"error":null,"id":"c1","model":"m","prompt":"p","purpose":"translate","reply":"r","seconds":1.0,"temperature":null,"usage":{"input":10,"output":5}}','2026-11-15T23:58:01.042705+00:00');
INSERT INTO "records" VALUES('first',3,'proposal','1','19aec92e3b3ede3c6ac0',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"brief":1,"candidate":"19aec92e3b3ede3c6ac0","duplicate_of":null,"faulted":false,"fingerprint":null,"genome":{},"problem":null,"traits":[0,0,1,0]}','2026-11-15T23:58:01.070675+00:00');
INSERT INTO "records" VALUES('first',4,'dossier','"19aec92e3b3ede3c6ac0"','19aec92e3b3ede3c6ac0',NULL,'holds',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"candidate":"19aec92e3b3ede3c6ac0","evidence":[{"candidate":"19aec92e3b3ede3c6ac0","counterexample":null,"facts":{},"reason":null,"rung":"source","scene":null,"seconds":null,"skipped":false,"verdict":"holds"}],"faults":[],"task":"t"}','2026-11-15T23:58:01.094980+00:00');
INSERT INTO "records" VALUES('first',5,'judged','"j1"','19aec92e3b3ede3c6ac0',NULL,'undecided',NULL,NULL,NULL,'NVIDIA H200',NULL,NULL,NULL,'{"candidate":"19aec92e3b3ede3c6ac0","crate":null,"evidence":[],"faults":[],"job":"j1","label":"f","measurements":[{"blocks":[],"cache":"cold","case":"c","discards":[],"invalid":null,"library_share":null,"samples_us":[2.0,3.0],"scene":{"clocks_mhz":{},"compilers":{},"crate":null,"driver":null,"gpu":"NVIDIA H200","machine":null,"python":null,"torch":null,"warpwright":null},"stopped_because":"enough","subject":"19aec92e3b3ede3c6ac0","task":"t"}],"seconds":{},"task":"t"}','2026-11-15T23:58:01.123334+00:00');
INSERT INTO "records" VALUES('first',6,'prediction','["19aec92e3b3ede3c6ac0","c","h200"]','19aec92e3b3ede3c6ac0',NULL,NULL,NULL,NULL,NULL,'h200',NULL,NULL,NULL,'{"candidate":"19aec92e3b3ede3c6ac0","case":"c","gpu":"h200","limited_by":"memory","task":"t","terms_us":{},"time_us":2.0}','2026-11-15T23:58:01.158601+00:00');
INSERT INTO "records" VALUES('first',7,'score','["19aec92e3b3ede3c6ac0","measured"]','19aec92e3b3ede3c6ac0',NULL,NULL,NULL,'measured',0.2,NULL,NULL,NULL,'paper/layernorm:forward h200 translate wide loads memory','{"basis":"measured","by_case":{},"candidate":"19aec92e3b3ede3c6ac0","gpu_seconds":null,"profile":"memory","share_of_limit":null,"value":0.2}','2026-11-15T23:58:01.188893+00:00');
INSERT INTO "records" VALUES('first',8,'lesson','1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'paper/layernorm:forward wide loads pay','{"decision":1,"text":"wide loads pay"}','2026-11-15T23:58:01.234405+00:00');
INSERT INTO "records" VALUES('first',9,'sitting',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason":"done","seconds":9.0}','2026-11-15T23:58:01.246339+00:00');
CREATE TABLE runs (
	id TEXT NOT NULL, 
	task TEXT NOT NULL, 
	started TEXT NOT NULL, 
	body TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('first','paper/layernorm:forward','2026-01-02T03:04:05','{"id":"first","seed":7,"settings":{"generations":1},"started":"2026-01-02T03:04:05","task":"paper/layernorm:forward","warpwright":"0.1"}','2026-11-15T23:58:00.966221+00:00');
CREATE INDEX runs_by_task ON runs (task);
CREATE INDEX briefs_by_operator ON briefs (operator);
CREATE INDEX records_by_candidate ON records (candidate, kind);
CREATE INDEX records_by_verdict ON records (kind, verdict, rung);
CREATE INDEX records_by_score ON records (kind, basis, score);
CREATE INDEX records_by_model ON records (kind, model);
COMMIT;
