-- All tools that data planes have pinned, and not only those that have changed: `changed_at` is when
-- a tool was first or last something else, null for one that never was.
ALTER TABLE pinned_tools
  ALTER COLUMN changed_at DROP NOT NULL,
  -- Since when the tool is what it was seen as last, by the clock of the data plane that saw it. The
  -- default is for replicas of the version before.
  ADD COLUMN seen_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Where changed members begin to differ: [{member, before, after}], text of the server.
  ADD COLUMN difference jsonb NOT NULL DEFAULT '[]',
  -- The server says something else of it again and again.
  ADD COLUMN varies boolean NOT NULL DEFAULT false,
  -- An administrator approved whatever the server says of it.
  ADD COLUMN may_vary boolean NOT NULL DEFAULT false;
UPDATE pinned_tools SET seen_at = changed_at;
-- Heartbeats tell of first sights.
GRANT INSERT ON pinned_tools TO governance_app;
