package suite

import (
	"context"

	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/loop/mcp"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/toolserver"
)

// toolbox holds the MCP connections of a run: one to each tool server of a
// scenario, which the cells of the scenario share. Each cell has its own log.
type toolbox map[string][]client.ToolServer // by scenario id

// local returns the tool servers of a scenario, connected in process.
func (b toolbox) local(ctx context.Context, s fixtures.Scenario) ([]client.ToolServer, error) {
	if servers, ok := b[s.ID]; ok {
		return servers, nil
	}
	servers := []client.ToolServer{}
	for _, data := range s.Servers {
		connected, err := mcp.Connect(ctx, data.Name, (&toolserver.Server{Server: data}).Transport())
		if err != nil {
			return nil, err
		}
		servers = append(servers, client.ToolServer{Name: data.Name, Local: connected})
	}
	b[s.ID] = servers
	return servers, nil
}

// close ends the connections.
func (b toolbox) close() {
	for _, servers := range b {
		for _, s := range servers {
			_ = s.Local.(*mcp.Server).Close() // nothing is on its way
		}
	}
}
