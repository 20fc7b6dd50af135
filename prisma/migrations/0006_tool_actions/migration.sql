-- What administrators say of tools: by a tool's name its action, and the id of its saying.
ALTER TABLE mcp_servers ADD COLUMN tool_actions jsonb NOT NULL DEFAULT '{}';
